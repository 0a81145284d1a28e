// A GraphQL API that knows who is asking and lets nobody ask too often.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { identify, type User } from './identify.ts'
import { countRequest } from './limit.ts'
import { type Context, schema } from './schema.ts'

const port = Number(process.env.PORT ?? 4000)

const users = new WeakMap<IncomingMessage, User>()
const handler = createHandler<Context>({
  schema,
  context: (request) => ({ user: users.get(request.raw) }),
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { user, fault } = await identify(request.headers.authorization)
  // Who shows a token that is not good is counted by address: guessing has a limit too.
  const { isAllowed, retryAfterSeconds, headers } = user
    ? await countRequest('user', user.id)
    : await countRequest('address', request.socket.remoteAddress ?? 'unknown')
  for (const [name, value] of headers) response.setHeader(name, value)
  if (!isAllowed) {
    response.setHeader('retry-after', retryAfterSeconds)
    refuse(response, 429, `Too many requests. Try again in ${retryAfterSeconds} s.`)
  } else if (fault) {
    response.setHeader('www-authenticate', 'Bearer error="invalid_token"')
    refuse(response, 401, `The access token is not good (${fault}). Sign in again.`)
  } else {
    if (user) users.set(request, user)
    await handler(request, response)
  }
}

/** In the shape of GraphQL, so that its clients understand it. */
function refuse(response: ServerResponse, status: 401 | 429 | 500, message: string): void {
  response.writeHead(status, { 'content-type': 'application/graphql-response+json; charset=utf-8' })
  response.end(JSON.stringify({ errors: [{ message, extensions: { status } }] }))
}

const server = createServer((request, response) => {
  if (request.url?.split('?')[0] !== '/graphql') {
    response.writeHead(404).end()
    return
  }
  answer(request, response).catch((error: unknown) => {
    console.error(error)
    if (response.headersSent) response.destroy()
    else refuse(response, 500, 'Something went wrong here.')
  })
})

server.on('error', ({ message }) => {
  console.error(message)
  process.exitCode = 1
})
// This machine only: an example has no business on the network.
server.listen(port, '127.0.0.1', () => {
  console.log(`Listening on http://localhost:${port}/graphql`)
})
