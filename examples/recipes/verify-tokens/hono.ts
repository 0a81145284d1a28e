// A Hono API that verifies access tokens with the public keys of the auth server.

import { serve } from '@hono/node-server'
import { type AccessTokenClaims, createVerifier } from '@portcullis/auth/verify'
import { requireToken } from '@portcullis/auth/verify/hono'
import { Hono } from 'hono'

const port = Number(process.env.PORT ?? 4000)
const verifier = createVerifier({
  authUrl: process.env.AUTH_URL ?? 'http://localhost:8081',
  roles: ['authenticated'],
})

const app = new Hono<{ Variables: { claims: AccessTokenClaims } }>()

app.get('/health', (c) => c.json({ status: 'ok' }))

// Routes after this line need a token.
app.use(requireToken({ verifier }))

app.get('/me', (c) => {
  const { sub, email } = c.get('claims')
  return c.json({ id: sub, email })
})

serve({ fetch: app.fetch, port }, () => console.log(`Listening on http://localhost:${port}/`))
