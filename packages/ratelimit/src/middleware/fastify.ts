import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { createGate, type GateOptions } from './gate.ts'

/**
 * A hook for Fastify 5, of all routes or of one:
 *
 * ```ts
 * app.addHook('onRequest', limitRequests({ limiter, domain: 'api', descriptors: (req) => [{ ip: req.ip }] }))
 * ```
 */
export function limitRequests(options: GateOptions<FastifyRequest>): onRequestAsyncHookHandler {
  const gate = createGate(options)
  return async (request, reply) => {
    const { headers, answer } = await gate(request)
    for (const [name, value] of headers) reply.header(name, value)
    if (answer === undefined) return
    return reply.code(answer.status).send(answer.body)
  }
}
