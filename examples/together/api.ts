// The GraphQL API that `npm start` runs, as a separate program, for auth and ratelimit servers elsewhere.

import { createServer } from 'node:http'
import { createVerifier } from '@portcullis/auth/verify'
import { openApi } from '@portcullis/portcullis/api'

const {
  // Listens only on this machine by default, because it is an example.
  HOST = '127.0.0.1',
  PORT = '4000',
  AUTH_URL = 'http://localhost:8081',
  AUTH_JWT_SECRET: secret,
  AUTH_REVOCATION_KEY: key,
  RATELIMIT_URL = 'http://localhost:8080',
} = process.env

const verifier = createVerifier({
  // Without the secret, tokens are verified with the public keys of the auth server.
  ...(secret ? { secret } : { authUrl: AUTH_URL }),
  // With the key, tokens are refused within a second after their session has ended.
  ...(key && { revocation: { key, authUrl: AUTH_URL } }),
})

const server = createServer(
  openApi({
    verifier,
    // The same key may verify API keys.
    ...(key && { keys: { authUrl: AUTH_URL, token: key } }),
    ratelimitUrl: RATELIMIT_URL,
  }),
)
server.on('error', ({ message }) => {
  console.error(message)
  process.exitCode = 1
})
server.listen(Number(PORT), HOST, () => {
  console.log(`Listening on http://localhost:${PORT}/graphql`)
})
