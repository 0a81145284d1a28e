// The GraphQL API that `npm start` runs, as a separate program, for auth and ratelimit servers elsewhere.

import { createServer } from 'node:http'
import { openApi } from '@portcullis/portcullis/api'

const {
  // Listens only on this machine by default, because it is an example.
  HOST = '127.0.0.1',
  PORT = '4000',
  AUTH_URL = 'http://localhost:8081',
  AUTH_JWT_SECRET: secret,
  RATELIMIT_URL = 'http://localhost:8080',
} = process.env

const server = createServer(
  openApi({
    // Without the secret, tokens are verified with the public keys of the auth server.
    signingKeys: secret ? { secret } : { authUrl: AUTH_URL },
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
