import { randomUUID } from 'node:crypto'
import { toIssuer } from '../../../config/oauth-server.ts'
import type { Services } from '../../../services.ts'
import type { OAuthClientRow } from '../../oauth-clients/statements.ts'
import { oauthError } from '../oauth-error.ts'
import { checkResource } from '../resources.ts'
import { toScopes } from '../scopes.ts'
import type { Grant } from './grant.ts'

/** Issues an access token to the client itself, without a user and without a session. */
export const clientCredentials: Grant = async (services, { client, parameters }) => {
  const { config, signer } = services
  const { resource = '' } = parameters
  checkResource(config.oauthServer, resource)
  const scope = findOwnScope(services, client, parameters['scope'])
  const { expiresInSeconds, audience } = config.tokens
  const issuedAt = Math.floor(services.now() / 1_000)
  // Without `role` and `session_id`, no endpoint of this server takes it for the token of a user.
  const accessToken = signer.sign({
    iss: toIssuer(config),
    sub: client.id,
    aud: resource || audience,
    exp: issuedAt + expiresInSeconds,
    iat: issuedAt,
    jti: randomUUID(),
    client_id: client.id,
    scope,
  })
  const answer = { access_token: accessToken, token_type: 'bearer', scope } as const
  return { answer: { ...answer, expires_in: expiresInSeconds } }
}

/**
 * The scopes that an administrator has given to the client itself: those of the operator's APIs, because
 * the others are about a user. @throws {ApiError}
 */
export function findOwnScope(
  { config }: Services,
  client: OAuthClientRow,
  requested: string | undefined = '',
): string {
  const allowed = toScopes(client.scope)
  const mine = config.oauthServer.scopes.filter((scope) => allowed.includes(scope))
  const scopes = requested === '' ? mine : toScopes(requested)
  const excess = scopes.find((scope) => !mine.includes(scope))
  if (excess === undefined) return scopes.join(' ')
  throw oauthError(
    'invalid_scope',
    `The client may not request the scope ${excess} for itself: it must be in AUTH_OAUTH_SERVER_SCOPES and in ` +
      'the scope of the client',
  )
}
