import { randomUUID } from 'node:crypto'
import { toIssuer } from '../../../config/oauth-server.ts'
import type { Services } from '../../../services.ts'
import { toAudience } from '../../../tokens/client-grants.ts'
import type { OAuthClientRow } from '../../oauth-clients/statements.ts'
import { oauthError } from '../oauth-error.ts'
import { parseResources, toScopes } from '../requested-access.ts'
import { type Grant, toConfirmation, toTokenType } from './grant.ts'

/** Issues an access token to the client itself, without a user and without a session. */
export const clientCredentials: Grant = {
  name: 'client_credentials',
  isTrusted: true,
  parameters: {},
  async issue(services, request) {
    const { client, parameters, proofKey } = request
    const { config, signer } = services
    const resource = parseResources(config.oauthServer, parameters['resource'])
    const scope = findOwnScope(services, client, parameters['scope'])
    const { expiresInSeconds, audience } = config.tokens
    const issuedAt = Math.floor(services.now() / 1_000)
    // Without `role` and `session_id`, no endpoint of this server takes it for the token of a user.
    const accessToken = signer.sign({
      iss: toIssuer(config),
      sub: client.id,
      aud: toAudience(resource || audience),
      exp: issuedAt + expiresInSeconds,
      iat: issuedAt,
      jti: randomUUID(),
      client_id: client.id,
      scope,
      ...toConfirmation(proofKey),
    })
    const answer = { access_token: accessToken, token_type: toTokenType(proofKey), scope }
    return { answer: { ...answer, expires_in: expiresInSeconds } }
  },
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
