import type { Context, MiddlewareHandler } from 'hono'
import { createGate, type GateOptions } from './gate.ts'

/**
 * A middleware for Hono, on any runtime that has Node's modules:
 *
 * ```ts
 * app.use(limitRequests({ limiter, domain: 'api', descriptors: (c) => [{ path: c.req.path }] }))
 * ```
 */
export function limitRequests(options: GateOptions<Context>): MiddlewareHandler {
  const gate = createGate(options)
  return async (c, next) => {
    const { headers, answer } = await gate(c)
    for (const [name, value] of headers) c.header(name, value)
    if (answer !== undefined) return c.body(answer.body, answer.status)
    await next()
    return undefined
  }
}
