import type { Context, Middleware } from 'koa'
import { createGate } from './shared/gate.ts'
import { isAppended } from './shared/header-styles.ts'
import type { MiddlewareOptions } from './shared/options.ts'
import type { Peer } from './shared/proxy-warning.ts'

export type * from './shared/exported-types.ts'

/** Options of {@link limitRequests} for Koa. */
export type LimitRequestsOptions<Keys extends string = string> = MiddlewareOptions<
  [ctx: Context],
  Keys
>

const peer: Peer<[ctx: Context]> = {
  findHeader: (name, { headers }) => headers[name],
  findUntrustedAddress: ({ app, req }) => (app.proxy ? undefined : req.socket.remoteAddress),
  advice:
    'Create the server with new Koa({ proxy: true, maxIpsCount: 1 }) for one proxy, and count by ipKey(ctx.ip).',
}

/**
 * A middleware for Koa 2 and 3.
 *
 * @example
 * ```ts
 * import { createRateLimiter, ipKey } from '@portcullis/ratelimit'
 * import { limitRequests } from '@portcullis/ratelimit/use/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * app.use(
 *   limitRequests({
 *     limiter: createRateLimiter({ limits: { ip: '60/minute' } }),
 *     keys: (ctx) => ({ ip: ipKey(ctx.ip) }),
 *   }),
 * )
 * ```
 *
 * @throws TypeError when an option is unknown or invalid
 */
export function limitRequests<Keys extends string = string>(
  options: LimitRequestsOptions<Keys>,
): Middleware {
  const gate = createGate(options, peer)
  return async (ctx, next) => {
    const { headers, answer } = await gate(ctx)
    if (answer !== undefined) {
      ctx.status = answer.status
      ctx.body = answer.body
    }
    for (const [name, value] of headers) {
      if (isAppended(name)) ctx.append(name, value)
      else ctx.set(name, value)
    }
    if (answer === undefined) await next()
  }
}
