import type { Context, Middleware } from 'koa'
import { createGate, type GateOptions } from './gate.ts'

/**
 * A middleware for Koa 2 and 3:
 *
 * ```ts
 * app.use(limitRequests({ limiter, domain: 'api', descriptors: (ctx) => [{ ip: ctx.ip }] }))
 * ```
 */
export function limitRequests(options: GateOptions<Context>): Middleware {
  const gate = createGate(options)
  return async (ctx, next) => {
    const { headers, answer } = await gate(ctx)
    if (answer !== undefined) {
      ctx.status = answer.status
      ctx.body = answer.body
    }
    for (const [name, value] of headers) ctx.set(name, value)
    if (answer === undefined) await next()
  }
}
