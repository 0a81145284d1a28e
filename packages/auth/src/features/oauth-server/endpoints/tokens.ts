import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import { oauthError } from '../oauth-error.ts'
import { introspect, revoke } from '../presented-tokens.ts'
import { authenticateCall, credentialFields, text } from './client-call.ts'

const body = Type.Object({
  ...credentialFields,
  token: text('An access token or a refresh token'),
  token_type_hint: text('Not needed: the server recognises both'),
})

const common = {
  method: 'POST',
  allowed: 'anyone',
  oauth: 'api',
  limiter: 'token',
  takesForms: true,
  body,
} as const

export const introspectToken = defineEndpoint({
  ...common,
  path: '/oauth/introspect',
  summary: 'Returns whether a token is valid, and its claims (RFC 7662)',
  success: { status: 200, description: 'active, and if it is true the claims' },
  async handle(call, services) {
    const client = await authenticateCall(call, services)
    return json(await introspect(services, client, requireToken(call.body)))
  },
})

export const revokeToken = defineEndpoint({
  ...common,
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
