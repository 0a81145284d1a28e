import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGate, type GateOptions } from './gate.ts'

/**
 * For `node:http`. Resolves to whether the request may pass; if not, it is answered:
 *
 * ```ts
 * const limit = limitRequests({ limiter, domain: 'api', descriptors: (req) => [{ path: req.url }] })
 * createServer(async (req, res) => {
 *   if (await limit(req, res)) res.end('hello')
 * })
 * ```
 */
export function limitRequests<Request extends IncomingMessage>(
  options: GateOptions<Request>,
): (request: Request, response: ServerResponse) => Promise<boolean> {
  const gate = createGate(options)
  return async (request, response) => {
    const { headers, answer } = await gate(request)
    // It may have been answered by a timeout, or its client be gone.
    if (response.headersSent || response.destroyed) return false
    for (const [name, value] of headers) response.setHeader(name, value)
    if (answer === undefined) return true
    response.statusCode = answer.status
    response.end(answer.body)
    return false
  }
}
