import type { Request, RequestHandler, Response } from 'express'
import { createGate, sendOutcome } from './shared/gate.ts'
import type { MiddlewareOptions } from './shared/options.ts'
import type { Peer } from './shared/proxy-warning.ts'

export type * from './shared/exported-types.ts'

/** Options of {@link limitRequests} for Express. */
export type LimitRequestsOptions<Keys extends string = string> = MiddlewareOptions<
  [request: Request, response: Response],
  Keys
>

const peer: Peer<[request: Request, response: Response]> = {
  findHeader: (name, { headers }) => headers[name],
  findUntrustedAddress: ({ app, socket }) =>
    app.get('trust proxy') ? undefined : socket.remoteAddress,
  advice: "Call app.set('trust proxy', 1) for one proxy, and count by ipKey(request.ip).",
}

/**
 * A middleware for Express 4 and 5.
 *
 * @example
 * ```ts
 * import { createRateLimiter, ipKey } from '@portcullis/ratelimit'
 * import { limitRequests } from '@portcullis/ratelimit/use/express'
 * import express from 'express'
 *
 * const app = express()
 * app.use(
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
): RequestHandler {
  const gate = createGate(options, peer)
  return (request, response, next) => {
    gate(request, response).then((outcome) => {
      if (sendOutcome(outcome, response)) next()
    }, next)
  }
}
