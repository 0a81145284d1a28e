import { toCodeHash } from '../authorizations.ts'
import { pollIntervalSeconds } from '../device-requests.ts'
import { oauthError } from '../oauth-error.ts'
import { pollDevice } from '../statements/devices.ts'
import { exchange } from './exchange.ts'
import type { Grant } from './grant.ts'

/** A device asks again and again until the user has decided (RFC 8628, section 3.4). */
export const deviceCode: Grant = async (services, request) => {
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
}
