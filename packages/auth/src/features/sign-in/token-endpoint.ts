import { ApiError } from '../../errors.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { Type } from '../../http/schema.ts'
import { grants } from './grants/index.ts'

/** Those that somebody could try out by the thousand (reference 1.7). */
const humanGrants: ReadonlySet<string> = new Set(['password', 'web3'])

export const token = defineEndpoint({
  method: 'POST',
  path: '/token',
  summary: 'Exchanges a password, a refresh token, a code or an ID token for tokens',
  allowed: 'anyone',
  limiter: 'token',
  captcha: ({ grant_type: name = '' }) => humanGrants.has(name),
  query: { grant_type: 'password, refresh_token, pkce or id_token' },
  body: Type.Object({
    email: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    password: Type.Optional(Type.String()),
    refresh_token: Type.Optional(Type.String()),
    auth_code: Type.Optional(Type.String()),
    code_verifier: Type.Optional(Type.String()),
    provider: Type.Optional(Type.String()),
    id_token: Type.Optional(Type.String({ description: 'One that the provider has given an app' })),
    access_token: Type.Optional(Type.String({ description: 'That which came with it' })),
    nonce: Type.Optional(Type.String({ description: 'Its SHA-256 is in the ID token' })),
    link_identity: Type.Optional(Type.Boolean({ description: 'Into the account of the bearer' })),
    client_id: Type.Optional(Type.String({ description: 'With issuer, in place of provider' })),
    issuer: Type.Optional(Type.String()),
  }),
  success: { status: 200, description: 'A token response' },
  async handle(call, services) {
    const { grant_type: name = '' } = call.query
    const grant = Object.hasOwn(grants, name) ? grants[name] : undefined
    if (grant === undefined) throw new ApiError('invalid_credentials', 'unsupported_grant_type')
    return grant(call, services)
  },
})
