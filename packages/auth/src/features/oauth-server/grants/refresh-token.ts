import { ApiError } from '../../../errors.ts'
import type { ClientGrant, GrantHolder } from '../../sessions/client-grants.ts'
import { oauthError } from '../oauth-error.ts'
import { narrowScope } from '../scopes.ts'
import type { Grant, GrantRequest } from './grant.ts'
import { toTokenAnswer } from './token-answer.ts'

/**
 * Replaces a refresh token, which only the client to which it was issued can use. The new access token can
 * have a smaller scope than the grant, and the next one the whole scope again.
 */
export const refreshToken: Grant = async (services, request) => {
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
  return { answer: toTokenAnswer(services, issued), onSent }
}

function toHolder({ client, parameters }: GrantRequest): GrantHolder {
  return {
    clientId: client.id,
    narrow(grant: ClientGrant) {
      const { scope, resource = grant.resource } = parameters
      if (resource !== grant.resource) {
        throw oauthError('invalid_target', 'The token was not issued for this resource')
      }
      return { ...grant, scope: narrowScope(grant.scope, scope) }
    },
  }
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
