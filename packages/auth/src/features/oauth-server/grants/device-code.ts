import { randomBytes, randomInt } from 'node:crypto'
import { toDeviceUrl } from '../../../config/oauth-server.ts'
import type { Services } from '../../../services.ts'
import type { OAuthClientRow } from '../../oauth-clients/statements.ts'
import { toCodeHash } from '../authorizations.ts'
import { oauthError } from '../oauth-error.ts'
import { parseResources, parseScope } from '../requested-access.ts'
import { addDeviceRequest, findByUserCode, pollDevice } from '../statements/codes.ts'
import { exchange, type Grant } from './grant.ts'

const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code'
/** The minimum interval between two requests of a device. */
const pollIntervalSeconds = 5

/** Consonants, so that codes are not words, and letters are not mistaken for digits (RFC 8628, section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'

/** Starts the request of a device, which shows the user code. @throws {ApiError} */
export async function requestDevice(
  services: Services,
  client: OAuthClientRow,
  { scope = '', resource }: { readonly scope?: string; readonly resource?: string },
) {
  if (!client.grant_types.includes(deviceGrantType)) {
    throw oauthError('unauthorized_client', 'The client may not use the device grant')
  }
  const resources = parseResources(services.config.oauthServer, resource)
  const code = randomBytes(32).toString('base64url')
  const userCode = createUserCode()
  const nowMs = services.now()
  const lifetimeMs = services.config.oauthServer.authorizationTtlMs
  await services.db.run(addDeviceRequest, {
    id: randomBytes(24).toString('base64url'),
    clientId: client.id,
    scope: parseScope(services, client, scope),
    resource: resources,
    userCode,
    deviceCodeHash: toCodeHash(code),
    now: new Date(nowMs),
    expiresAt: new Date(nowMs + lifetimeMs),
  })
  const uri = toDeviceUrl(services.config)
  const shown = `${userCode.slice(0, 4)}-${userCode.slice(4)}`
  return {
    device_code: code,
    user_code: shown,
    verification_uri: uri,
    verification_uri_complete: `${uri}?user_code=${shown}`,
    expires_in: Math.floor(lifetimeMs / 1_000),
    interval: pollIntervalSeconds,
  }
}

/** The ID of the request that shows this code; undefined: there is none. */
export async function findDeviceRequest(
  services: Services,
  userCode: string,
): Promise<string | undefined> {
  const normal = userCode.toUpperCase().replaceAll(/[^A-Z]/g, '')
  const now = new Date(services.now())
  const [request] = await services.db.run(findByUserCode, { userCode: normal, now })
  return request?.id
}

/** 34 random bits, for a few minutes and a limited number of attempts. */
function createUserCode(): string {
  return Array.from({ length: 8 }, () => letters.charAt(randomInt(letters.length))).join('')
}

/** A device asks again and again until the user has decided (RFC 8628, section 3.4). */
export const deviceCode: Grant = {
  name: deviceGrantType,
  isTrusted: false,
  parameters: {
    device_code: 'The device grant: the code of the device',
  },
  async issue(services, request) {
    const { device_code: code } = request.parameters
    if (code === undefined) throw oauthError('invalid_request', 'device_code is required')
    const nowMs = services.now()
    const [row] = await services.db.run(pollDevice, {
      deviceCodeHash: toCodeHash(code),
      clientId: request.client.id,
      now: new Date(nowMs),
      earliest: new Date(nowMs - pollIntervalSeconds * 1_000),
    })
    if (row === undefined) throw oauthError('invalid_grant', 'Invalid device code')
    const { status, user_id: userId } = row
    if (status === 'denied') throw oauthError('access_denied', 'User denied the request')
    if (status === 'exchanged') throw oauthError('invalid_grant', 'Invalid device code')
    if (nowMs > Date.parse(row.expires_at)) {
      throw oauthError('expired_token', 'The device code has expired')
    }
    if (row.is_early) {
      throw oauthError('slow_down', `Wait ${pollIntervalSeconds} seconds between two requests`)
    }
    if (status === 'pending' || userId === null) {
      throw oauthError('authorization_pending', 'The user has not decided yet')
    }
    return await exchange(services, request, { ...row, user_id: userId })
  },
}
