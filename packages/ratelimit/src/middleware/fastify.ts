import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { createGate } from './shared/gate.ts'
import { isAppended, toLowerCase } from './shared/header-styles.ts'
import type { MiddlewareOptions } from './shared/options.ts'
import type { Peer } from './shared/proxy-warning.ts'

export type * from './shared/exported-types.ts'

/** Options of {@link limitRequests} for Fastify. */
export type LimitRequestsOptions<Keys extends string = string> = MiddlewareOptions<
  [request: FastifyRequest, reply: FastifyReply],
  Keys
>

const peer: Peer<[request: FastifyRequest, reply: FastifyReply]> = {
  findHeader: (name, { headers }) => headers[name],
  // Fastify sets `ips` if and only if it has `trustProxy`.
  findUntrustedAddress: ({ ips, socket }) => (ips === undefined ? socket.remoteAddress : undefined),
  advice:
    "Create the server with Fastify({ trustProxy: '10.0.0.7' }), the proxy's address, and count by ipKey(request.ip).",
}

/**
 * A hook for Fastify 5, for all routes or for one.
 *
 * @example
 * ```ts
 * import { createRateLimiter, ipKey } from '@portcullis/ratelimit'
 * import { limitRequests } from '@portcullis/ratelimit/use/fastify'
 * import Fastify from 'fastify'
 *
 * const app = Fastify()
 * app.addHook(
 *   'onRequest',
 *   limitRequests({
 *     limiter: createRateLimiter({ limits: { ip: '60/minute' } }),
 *     keys: (request) => ({ ip: ipKey(request.ip) }),
 *   }),
 * )
 * ```
 *
 * @throws TypeError when an option is unknown or invalid
 */
export function limitRequests<Keys extends string = string>(
  options: LimitRequestsOptions<Keys>,
): onRequestAsyncHookHandler {
  const gate = createGate(options, peer)
  return async (request, reply) => {
    const { headers, answer } = await gate(request, reply)
    for (const [written, value] of headers) {
      // Fastify sends names in lower case, and handles names that already are in lower case faster.
      const name = toLowerCase(written)
      const earlier = isAppended(name) ? reply.getHeader(name) : undefined
      // Fastify itself appends cookies to earlier ones.
      const isJoined = earlier !== undefined && name !== 'set-cookie'
      reply.header(name, isJoined ? `${earlier}, ${value}` : value)
    }
    if (answer === undefined) return
    return reply.code(answer.status).send(answer.body)
  }
}
