// A GraphQL API with signed-in users and limits, in one process.

import { createServer, type IncomingMessage } from 'node:http'
import { type AccessTokenClaims, createVerifier, toRefusal } from '@portcullis/auth/verify'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { createRateLimiter, ipKey } from '@portcullis/ratelimit'
import { limitRequests } from '@portcullis/ratelimit/use/node'
import { rootValue, schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)
const verifier = createVerifier({ authUrl: process.env.AUTH_URL ?? 'http://localhost:8081' })
const claimsOf = new WeakMap<IncomingMessage, AccessTokenClaims>()

const handler = createHandler({
  schema,
  rootValue,
  // One request can contain an expensive query, so documents are limited too.
  maxDepth: 10,
  maxAliases: 20,
  context: ({ raw }) => ({ user: claimsOf.get(raw) }),
})

const limit = limitRequests({
  limiter: createRateLimiter({
    store: process.env.STORE ?? 'memory:',
    limits: { user: '20/minute', ip: '10/minute' },
  }),
  // Requests with an invalid token count by address, which limits guesses.
  keys: (request) => {
    const user = claimsOf.get(request)?.sub
    return user === undefined ? { ip: ipKey(request.socket.remoteAddress) } : { user }
  },
  onLimited: ({ retryAfterSeconds }) => toErrorResponse(`Try again in ${retryAfterSeconds} s.`),
})

const server = createServer(async (request, response) => {
  try {
    if (request.url?.split('?')[0] !== '/graphql') return void response.writeHead(404).end()
    const refusal = await identify(request)
    if (!(await limit(request, response))) return
    if (refusal === undefined) return await handler(request, response)
    const { headers, body } = toErrorResponse(refusal.message)
    response.writeHead(refusal.status, { ...refusal.headers, ...headers }).end(body)
  } catch (error) {
    console.error(error)
    response.writeHead(500).end()
  }
})

/** Returns the response to an invalid token. A request without a token is anonymous. */
async function identify(request: IncomingMessage) {
  const { authorization } = request.headers
  if (authorization === undefined) return undefined
  try {
    claimsOf.set(request, await verifier.verifyHeader(authorization))
    return undefined
  } catch (error) {
    const refusal = toRefusal(error)
    if (refusal === undefined) throw error
    return refusal
  }
}

/** An error that GraphQL clients can read. */
function toErrorResponse(message: string) {
  return {
    headers: { 'content-type': 'application/graphql-response+json; charset=utf-8' },
    body: JSON.stringify({ errors: [{ message }] }),
  }
}

server.listen(port, () => console.log(`Listening on http://localhost:${port}/graphql`))
