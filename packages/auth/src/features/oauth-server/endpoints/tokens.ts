import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { requireOAuthServer } from '../../oauth-clients/clients.ts'
import type { CallerRow } from '../../sessions/statements/sessions.ts'
import { grants } from '../grants/index.ts'
import { oauthError } from '../oauth-error.ts'
import { introspect, revoke } from '../presented-tokens.ts'
import { toUserClaims } from '../user-claims.ts'
import {
  authenticateCall,
  credentialFields,
  readProofKey,
  text,
  toParameters,
} from './client-call.ts'

const grantBody = Type.Object({
  grant_type: text(grants.map(({ name }) => name).join(', ')),
  ...credentialFields,
  ...Object.fromEntries(
    grants
      .flatMap(({ parameters }) => Object.entries(parameters))
      .map(([name, description]) => [name, text(description)]),
  ),
  scope: text('refresh_token: a part of the granted scope. Otherwise the requested scope'),
  resource: text('The API that the access token is for. Can occur several times in a form'),
})

export const oauthToken = defineEndpoint({
  method: 'POST',
  path: '/oauth/token',
  summary: 'Issues tokens to an OAuth client',
  allowed: 'anyone',
  credential: 'client',
  oauth: 'api',
  limiter: 'token',
  takesForms: true,
  body: grantBody,
  success: { status: 200, description: 'A token response (RFC 6749, section 5.1)' },
  async handle(call, services) {
    requireOAuthServer(services)
    const { grant_type: type = '' } = call.body
    if (type === '') throw oauthError('invalid_request', 'grant_type is required')
    const grant = grants.find(({ name }) => name === type)
    if (grant === undefined) {
      throw oauthError('unsupported_grant_type', `Unsupported grant type: ${type.slice(0, 64)}`)
    }
    const client = await authenticateCall(call, services)
    if (!client.grant_types.includes(type)) {
      const message = `Client is not allowed to use grant type: ${type}`
      throw oauthError('unauthorized_client', message)
    }
    const { answer, onSent } = await grant.issue(services, {
      client,
      proofKey: await readProofKey(call, client, services),
      parameters: toParameters(call.body),
      connection: call.client,
    })
    return { ...json(answer, { pragma: 'no-cache' }), ...(onSent && { onSent }) }
  },
})

const tokenBody = Type.Object({
  ...credentialFields,
  token: text('An access token or a refresh token'),
  token_type_hint: text('Not needed: the server recognises both'),
})

const presentedToken = {
  method: 'POST',
  allowed: 'anyone',
  credential: 'client',
  oauth: 'api',
  limiter: 'token',
  takesForms: true,
  body: tokenBody,
} as const

export const introspectToken = defineEndpoint({
  ...presentedToken,
  path: '/oauth/introspect',
  summary: 'Returns whether a token is valid, and its claims (RFC 7662)',
  success: { status: 200, description: 'active, and if it is true the claims' },
  async handle(call, services) {
    const client = await authenticateCall(call, services)
    return json(await introspect(services, client, requireToken(call.body)))
  },
})

export const revokeToken = defineEndpoint({
  ...presentedToken,
  path: '/oauth/revoke',
  summary: 'Ends the session of a token of the client that calls (RFC 7009)',
  success: { status: 200, description: 'The token is not valid' },
  async handle(call, services) {
    const client = await authenticateCall(call, services)
    await revoke(services, client, requireToken(call.body), call.client.ip)
    return json({})
  },
})

/** @throws {ApiError} */
function requireToken({ token = '' }: { readonly token?: string }): string {
  if (token !== '') return token
  throw oauthError('invalid_request', 'token is required')
}

const userinfoEndpoint = {
  path: '/oauth/userinfo',
  summary: 'Returns the claims about the user that the scope of an access token includes',
  allowed: 'user',
  acceptsClients: true,
  oauth: 'api',
  success: { status: 200, description: 'sub, and claims of OpenID Connect' },
} as const

export const userinfo = defineEndpoint({
  ...userinfoEndpoint,
  method: 'GET',
  handle: async (call, services) => json(await toUserinfo(call, services)),
})

/** OpenID Connect Core 1.0, section 5.3.1: both methods are required. */
export const userinfoByPost = defineEndpoint({
  ...userinfoEndpoint,
  method: 'POST',
  takesForms: true,
  handle: async (call, services) => json(await toUserinfo(call, services)),
})

interface UserCall {
  readonly caller: CallerRow
}

async function toUserinfo({ caller }: UserCall, services: Services) {
  requireOAuthServer(services)
  const { oauth_grant: grant } = caller
  if (grant === null) return { sub: caller.id }
  return { sub: caller.id, ...(await toUserClaims(services, caller, grant)) }
}
