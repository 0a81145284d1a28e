import type { FastifyInstance } from 'fastify'

const methods = 'GET, POST, PUT, PATCH, DELETE'
const allowed = [
  'Accept',
  'Authorization',
  'Content-Type',
  'X-Client-IP',
  'X-Client-Info',
  'X-JWT-AUD',
  'x-use-cookie',
  'X-Supabase-Api-Version',
  'apikey',
  'DPoP',
]
const exposed =
  'X-Total-Count, Link, X-Supabase-Api-Version, X-Request-Id, DPoP-Nonce, WWW-Authenticate'

/**
 * Any origin may call, because tokens are sent in a header, which pages of other sites cannot know.
 */
export function addCors(server: FastifyInstance, moreHeaders: readonly string[]): void {
  const allowedHeaders = [...allowed, ...moreHeaders].join(', ')
  server.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    // All pages with an opaque origin share the value `null`.
    if (origin === undefined || origin === 'null') return
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': exposed,
      vary: 'Origin',
    })
  })
  server.options('/*', async (_request, reply) =>
    reply
      .headers({
        'access-control-allow-methods': methods,
        'access-control-allow-headers': allowedHeaders,
        'access-control-max-age': '300',
      })
      .code(204)
      .send(),
  )
}
