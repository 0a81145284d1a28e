// An Express API that verifies access tokens with the public keys of the auth server.

import { createVerifier } from '@portcullis/auth/verify'
import { requireToken } from '@portcullis/auth/verify/express'
import express from 'express'

const port = Number(process.env.PORT ?? 4000)
const verifier = createVerifier({
  authUrl: process.env.AUTH_URL ?? 'http://localhost:8081',
  roles: ['authenticated'],
})

const app = express()

app.get('/health', (_request, response) => void response.json({ status: 'ok' }))

// Routes after this line need a token.
app.use(requireToken({ verifier }))

app.get('/me', (_request, response) => {
  const { sub, email } = response.locals['claims']
  response.json({ id: sub, email })
})

app.listen(port, () => console.log(`Listening on http://localhost:${port}/`))
