import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AddRoutes } from '../settings.ts'
import { callUpstream } from '../upstream.ts'

/** Those of the caller that matter to the server behind; the console's cookie is not among them. */
const requestHeaders = [
  'accept',
  'apikey',
  'authorization',
  'content-type',
  'x-client-info',
  'x-supabase-api-version',
]
/** The others describe that connection, a body that `fetch` has unpacked, or rules that are ours to make. */
const answerHeaders =
  /^(?:content-type|location|retry-after|www-authenticate|x-(?!frame-|content-).*|ratelimit-.*)$/

/** For scripts to read. As a page it would be one of our own origin, with whatever the server behind wrote. */
const passedHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  // Browsers refuse a sandboxed page that asks for a group of its own.
  'cross-origin-opener-policy': 'unsafe-none',
} as const

/**
 * Lets the page talk to the auth server and to the GraphQL API as anybody could, without leaving its own
 * origin and without the console's key.
 */
export const addRoutes: AddRoutes = (server, { auth, graphql }) => {
  server.register(async (scope) => {
    // As it came: a body that is not right is theirs to refuse.
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
