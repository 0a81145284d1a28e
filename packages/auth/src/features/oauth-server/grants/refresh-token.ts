import { ApiError } from '../../../errors.ts'
import type { ClientGrant, GrantHolder } from '../../../tokens/client-grants.ts'
import type { OAuthClientRow } from '../../oauth-clients/statements.ts'
import { refusedProof } from '../../sessions/proofs.ts'
import { oauthError } from '../oauth-error.ts'
import { narrowResources, narrowScope } from '../requested-access.ts'
import { type Grant, type GrantRequest, toTokenAnswer } from './grant.ts'

/**
 * Replaces a refresh token, which only the client to which it was issued can use. The new access token can
 * have a smaller scope than the grant, and the next one the whole scope again.
 */
export const refreshToken: Grant = {
  name: 'refresh_token',
  isTrusted: false,
  parameters: {
    refresh_token: 'refresh_token: the current refresh token',
  },
  async issue(services, request) {
    const { client, parameters, connection } = request
    const { refresh_token: token } = parameters
    if (token === undefined) {
      throw oauthError('invalid_request', 'refresh_token is required for refresh_token grant')
    }
    const { response, session, onSent } = await services.sessions
      .refresh(token, connection, toHolder(request))
      .catch((error: unknown) => {
        throw toGrantError(error)
      })
    const { oauth_grant: grant } = session
    if (grant === null) throw new TypeError('The session of a client has no grant')
    const issued = { client, grant, tokens: response, session, nonce: '' }
    return { answer: await toTokenAnswer(services, issued), onSent }
  },
}

function toHolder({ client, parameters, proofKey }: GrantRequest): GrantHolder {
  return {
    clientId: client.id,
    narrow(grant: ClientGrant) {
      const { scope, resource } = parameters
      checkProofKey(client, grant, proofKey)
      const bound = proofKey === undefined ? {} : { jkt: proofKey }
      return {
        ...grant,
        ...bound,
        scope: narrowScope(grant.scope, scope),
        resource: narrowResources(grant.resource, resource),
      }
    },
  }
}

/**
 * The refresh token of a public client is bound to the key, as its access tokens are. A confidential client proves
 * who it is by its secret, and may change its key (RFC 9449, section 5), but not do without one.
 * @throws {ApiError}
 */
function checkProofKey(
  client: OAuthClientRow,
  { jkt }: ClientGrant,
  proofKey: string | undefined,
): void {
  if (jkt === undefined) return
  if (proofKey === undefined)
    throw refusedProof('The tokens are bound to a key: send the header DPoP')
  if (client.client_type === 'confidential' || proofKey === jkt) return
  throw oauthError('invalid_grant', 'The refresh token is bound to another key')
}

/** Errors of a refresh are about the token, except those of the server. */
function toGrantError(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.oauthError !== undefined) return error
  if (error.status >= 500 || error.status === 429) return error
  return new ApiError(error.code, error.message, {
    status: 400,
    oauthError: 'invalid_grant',
    cause: error,
  })
}
