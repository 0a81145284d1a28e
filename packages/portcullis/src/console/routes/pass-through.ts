import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AddRoutes } from '../settings.ts'
import { callUpstream } from '../upstream.ts'

/** The request headers that are forwarded. The console's cookie is not forwarded. */
const requestHeaders = [
  'accept',
  'apikey',
  'authorization',
  'content-type',
  'x-client-info',
  'x-supabase-api-version',
]
/** The response headers that are forwarded. Others concern the connection, the encoding or browser security. */
const answerHeaders =
  /^(?:content-type|location|retry-after|www-authenticate|x-(?!frame-|content-).*|ratelimit-.*)$/

/** Keeps browsers from showing the response as a page, which would run in the console's origin. */
const passedHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  // Browsers refuse to open a sandboxed page with its own browsing context group.
  'cross-origin-opener-policy': 'unsafe-none',
} as const

/**
 * Forwards requests to the auth server and the GraphQL API, so that the page can call them without leaving
 * its origin. The console's key is not added.
 */
export const addRoutes: AddRoutes = (server, { auth, graphql }) => {
  server.register(async (scope) => {
    // Bodies are forwarded unchanged; the server behind validates them.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    if (auth) {
      scope.all<{ Params: { '*': string } }>('/auth/*', (request, reply) => {
        const { search } = new URL(request.url, 'http://console')
        return pass(
          'The auth server',
          `${auth.url}/${request.params['*']}${search}`,
          request,
          reply,
        )
      })
    }
    if (graphql) {
      scope.all('/graphql', { exposeHeadRoute: false }, (request, reply) => {
        const { search } = new URL(request.url, 'http://console')
        return pass('The GraphQL API', graphql.url + search, request, reply)
      })
    }
  })
}

async function pass(
  name: string,
  url: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { method, body } = request
  const sent = requestHeaders.flatMap((header): [string, string][] => {
    const value = request.headers[header]
    return value === undefined ? [] : [[header, String(value)]]
  })
  const answer = await callUpstream(name, url, {
    method,
    headers: sent,
    ...(Buffer.isBuffer(body) && { body: new Uint8Array(body) }),
  })
  reply.headers(passedHeaders)
  for (const [header, value] of answer.headers) {
    if (answerHeaders.test(header)) reply.header(header, value)
  }
  return reply.code(answer.status).send(Buffer.from(await answer.arrayBuffer()))
}
