import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'

export const jwks = defineEndpoint({
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'The public keys that verify access tokens',
  allowed: 'anyone',
  success: { status: 200, description: 'A JWK set; without keys where a secret signs' },
  handle: async (_call, { signingKeys }) =>
    json({ keys: signingKeys.publicKeys }, { 'cache-control': 'public, max-age=600' }),
})
