// A Fastify API that verifies access tokens with the public keys of the auth server.

import { createVerifier } from '@portcullis/auth/verify'
import { requireToken } from '@portcullis/auth/verify/fastify'
import Fastify from 'fastify'

const port = Number(process.env.PORT ?? 4000)
const verifier = createVerifier({
  authUrl: process.env.AUTH_URL ?? 'http://localhost:8081',
  roles: ['authenticated'],
})

const app = Fastify()

app.get('/health', async () => ({ status: 'ok' }))

// A hook applies to the routes of its scope: all routes in this function need a token.
await app.register(async (scope) => {
  scope.addHook('onRequest', requireToken({ verifier }))

  scope.get('/me', async ({ claims }) => ({ id: claims?.sub, email: claims?.email }))
})

await app.listen({ port })
console.log(`Listening on http://localhost:${port}/`)
