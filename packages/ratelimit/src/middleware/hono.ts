import type { Context, MiddlewareHandler } from 'hono'
import { createGate, type Outcome } from './shared/gate.ts'
import { isAppended } from './shared/header-styles.ts'
import type { MiddlewareOptions } from './shared/options.ts'
import type { Peer } from './shared/proxy-warning.ts'

export type * from './shared/exported-types.ts'

/** Options of {@link limitRequests} for Hono. */
export type LimitRequestsOptions<Keys extends string = string> = MiddlewareOptions<
  [c: Context],
  Keys
>

const peer: Peer<[c: Context]> = {
  findHeader: (name, c) => c.req.header(name),
  // @hono/node-server keeps Node's request here; other runtimes differ.
  findUntrustedAddress: (c) => c.env?.incoming?.socket?.remoteAddress,
  advice: "Count by ipKey(forwardedAddress(c.req.header('x-forwarded-for'))).",
}

/**
 * A middleware for Hono, on any runtime that has Node's modules. The header fields are set when the handlers
 * are done, so that a `Response` that a handler created has them too.
 *
 * @example
 * ```ts
 * import { createRateLimiter } from '@portcullis/ratelimit'
 * import { limitRequests } from '@portcullis/ratelimit/use/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono()
 * app.use(
 *   limitRequests({
 *     limiter: createRateLimiter({ limits: { path: '9/second' } }),
 *     keys: (c) => ({ path: c.req.path }),
 *   }),
 * )
 * ```
 *
 * @throws TypeError when an option is unknown or invalid
 */
export function limitRequests<Keys extends string = string>(
  options: LimitRequestsOptions<Keys>,
): MiddlewareHandler {
  const gate = createGate(options, peer)
  return async (c, next) => {
    const { headers, answer } = await gate(c)
    if (answer !== undefined) {
      setHeaders(c, headers)
      return c.newResponse(answer.body, answer.status as 429)
    }
    await next()
    // The response to an upgrade cannot be copied.
    if (headers.length > 0 && c.res.status !== 101) setHeaders(c, headers)
    return undefined
  }
}

function setHeaders(c: Context, headers: Outcome['headers']): void {
  for (const [name, value] of headers) c.header(name, value, { append: isAppended(name) })
}
