import { Type } from 'typebox'
import { ApiError } from '../errors.ts'
import { defineEndpoint } from '../http/endpoint.ts'
import { grants } from './grants/index.ts'

export const token = defineEndpoint({
  method: 'POST',
  path: '/token',
  summary: 'Exchanges a password, a refresh token or a code for tokens',
  allowed: 'anyone',
  limiter: 'token',
  query: { grant_type: 'password, refresh_token or pkce' },
  body: Type.Object({
    email: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
    password: Type.Optional(Type.String()),
    refresh_token: Type.Optional(Type.String()),
    auth_code: Type.Optional(Type.String()),
    code_verifier: Type.Optional(Type.String()),
  }),
  success: { status: 200, description: 'A token response' },
  async handle(call, services) {
    const { grant_type: name = '' } = call.query
    const grant = Object.hasOwn(grants, name) ? grants[name] : undefined
    if (grant === undefined) throw new ApiError('invalid_credentials', 'unsupported_grant_type')
    return grant(call, services)
  },
})
