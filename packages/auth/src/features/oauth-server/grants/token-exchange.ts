import { randomUUID } from 'node:crypto'
import { toIssuer } from '../../../config/oauth-server.ts'
import { ApiError } from '../../../errors.ts'
import type { Services } from '../../../services.ts'
import { toAudience } from '../../../tokens/client-grants.ts'
import type { Claims } from '../../../tokens/json-web-token.ts'
import { toPublicId } from '../../oauth-clients/statements.ts'
import { delegatedUse, findUserOfClaims, readAccessToken } from '../../sessions/bearer.ts'
import { oauthError } from '../oauth-error.ts'
import { narrowScope, parseResources } from '../requested-access.ts'
import { findOwnScope } from './client-credentials.ts'
import { type Grant, type GrantRequest, toConfirmation, toTokenType } from './grant.ts'

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const acceptedTypes = [accessTokenType, 'urn:ietf:params:oauth:token-type:jwt']

/**
 * Gives an API a token for another API, on behalf of the user whose token it has received (RFC 8693). The
 * new token names the API as the actor, is for one resource, expires no later than the received one,
 * and ends with its session.
 */
export const tokenExchange: Grant = {
  name: 'urn:ietf:params:oauth:grant-type:token-exchange',
  isTrusted: true,
  parameters: {
    subject_token: 'Token exchange: the access token that an API has received',
    subject_token_type: 'Token exchange: urn:ietf:params:oauth:token-type:access_token',
    requested_token_type: 'Token exchange: the same type, or absent',
    actor_token: 'Not supported',
  },
  async issue(services, request) {
    const { client, parameters, proofKey } = request
    const { config, signer } = services
    checkParameters(parameters)
    const resource = parseResources(config.oauthServer, parameters['resource'])
    if (resource === '') throw oauthError('invalid_target', 'resource is required')
    const subject = await readSubject(services, parameters['subject_token'] ?? '')
    const own = findOwnScope(services, client, parameters['scope'])
    const granted = typeof subject['scope'] === 'string' ? subject['scope'] : own
    // A client without scopes of its own gets none.
    const scope = own === '' ? '' : narrowScope(granted, own)
    const issuedAt = Math.floor(services.now() / 1_000)
    const lifetime = config.tokens.expiresInSeconds
    const { sub, role, aal, session_id, exp, act } = subject
    const expiresAt = Math.min(
      issuedAt + lifetime,
      typeof exp === 'number' ? exp : issuedAt + lifetime,
    )
    const accessToken = signer.sign({
      iss: toIssuer(config),
      ...{ sub, role, aal, session_id },
      aud: toAudience(resource),
      exp: expiresAt,
      iat: issuedAt,
      jti: randomUUID(),
      client_id: toPublicId(client),
      scope,
      // Section 4.1: earlier actors are nested.
      act: { sub: toPublicId(client), ...(act !== undefined && { act }) },
      token_use: delegatedUse,
      // The received token may be bound to the key of its client; this one is bound to that of the API.
      ...toConfirmation(proofKey),
    })
    return {
      answer: {
        access_token: accessToken,
        issued_token_type: accessTokenType,
        token_type: toTokenType(proofKey),
        expires_in: expiresAt - issuedAt,
        scope,
      },
    }
  },
}

/** @throws {ApiError} */
function checkParameters({
  subject_token: token,
  subject_token_type: type = '',
  requested_token_type: requested = accessTokenType,
  actor_token: actor,
}: GrantRequest['parameters']): void {
  if (token === undefined) throw oauthError('invalid_request', 'subject_token is required')
  if (!acceptedTypes.includes(type) || !acceptedTypes.includes(requested)) {
    throw oauthError(
      'invalid_request',
      'Only access tokens can be exchanged, and for access tokens',
    )
  }
  if (actor !== undefined) {
    throw oauthError('invalid_request', 'actor_token is not supported: the actor is the client')
  }
}

/** The claims of a token whose user and session are active. @throws {ApiError} */
async function readSubject(services: Services, token: string): Promise<Claims> {
  try {
    const claims = readAccessToken(token, services.signer, services.now())
    await findUserOfClaims(claims, services, { ofClients: true })
    return claims
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    throw oauthError('invalid_grant', 'The subject token is not valid', { cause: error })
  }
}
