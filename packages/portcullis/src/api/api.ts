import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { AuthUnavailableError } from '@portcullis/auth/verify'
import { createHandler } from '@portcullis/graphql-over-http/use/http'
import { createIdentify, type Identify, type SigningKeys, type User } from './identify.ts'
import { createCountRequest } from './limit.ts'
import { type Context, schema } from './schema.ts'

/** Options of {@link openApi}. */
export interface ApiSettings {
  /** Of the auth server; without them nobody is signed in. */
  readonly signingKeys?: SigningKeys
  /** Of the rate limit service; without it nobody is limited. */
  readonly ratelimitUrl?: string
  /** Whether a request is one of those that have a limit. Default: all are. */
  readonly countsRequest?: (request: IncomingMessage) => boolean
}

/** A GraphQL API that knows who is asking and lets nobody ask too often. */
export function openApi({
  signingKeys,
  ratelimitUrl,
  countsRequest = () => true,
}: ApiSettings): RequestListener {
  const identify: Identify = signingKeys ? createIdentify(signingKeys) : async () => ({})
  const countRequest = ratelimitUrl === undefined ? undefined : createCountRequest(ratelimitUrl)
  const users = new WeakMap<IncomingMessage, User>()
  const handler = createHandler<Context>({
    schema,
    context: (request) => ({ user: users.get(request.raw) }),
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { user, fault } = await identify(request.headers.authorization)
    // Requests with a bad token are counted by address: guessing has a limit too.
    const address = request.socket.remoteAddress ?? 'unknown'
    const count = countsRequest(request) ? countRequest : undefined
    const decision = user ? await count?.('user', user.id) : await count?.('address', address)
    for (const [name, value] of decision?.headers ?? []) response.setHeader(name, value)
    if (decision?.isAllowed === false) {
      const { retryAfterSeconds } = decision
      response.setHeader('retry-after', retryAfterSeconds)
      refuse(response, 429, `Too many requests. Try again in ${retryAfterSeconds} s.`)
    } else if (fault) {
      response.setHeader('www-authenticate', 'Bearer error="invalid_token"')
      refuse(response, 401, `The access token was refused: ${fault}. Sign in again.`)
    } else {
      if (user) users.set(request, user)
      await handler(request, response)
    }
  }

  return (request, response) => {
    if (request.url?.split('?')[0] !== '/graphql') {
      response.writeHead(404).end('There is nothing here. Try /graphql\n')
      return
    }
    answer(request, response).catch((error: unknown) => {
      console.error(error)
      if (response.headersSent) response.destroy()
      else if (error instanceof AuthUnavailableError) {
        response.setHeader('retry-after', 1)
        refuse(response, 503, 'The auth server cannot be reached. Try again.')
      } else refuse(response, 500, 'Something went wrong here.')
    })
  }
}

/** In the shape of GraphQL, so that its clients understand it. */
function refuse(response: ServerResponse, status: 401 | 429 | 500 | 503, message: string): void {
  response.writeHead(status, { 'content-type': 'application/graphql-response+json; charset=utf-8' })
  response.end(JSON.stringify({ errors: [{ message, extensions: { status } }] }))
}
