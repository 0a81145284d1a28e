import type { Request, RequestHandler } from 'express'
import type { GateOptions } from './gate.ts'
import { limitRequests as limitNodeRequests } from './node.ts'

/**
 * A middleware for Express 4 and 5:
 *
 * ```ts
 * app.use(limitRequests({ limiter, domain: 'api', descriptors: (req) => [{ ip: req.ip ?? '' }] }))
 * ```
 */
export function limitRequests(options: GateOptions<Request>): RequestHandler {
  const limit = limitNodeRequests(options)
  return (request, response, next) => {
    limit(request, response).then((isAllowed) => {
      if (isAllowed) next()
    }, next)
  }
}
