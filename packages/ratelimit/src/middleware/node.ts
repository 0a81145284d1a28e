import type { IncomingMessage, ServerResponse } from 'node:http'
import { createGate, sendOutcome } from './shared/gate.ts'
import { failed } from './shared/limited-answer.ts'
import type { MiddlewareOptions } from './shared/options.ts'
import type { Peer } from './shared/proxy-warning.ts'

export type * from './shared/exported-types.ts'

/** Options of {@link limitRequests} for `node:http`. */
export type LimitRequestsOptions<
  Request extends IncomingMessage = IncomingMessage,
  Response extends ServerResponse = ServerResponse,
  Keys extends string = string,
> = MiddlewareOptions<[request: Request, response: Response], Keys>

const peer: Peer<[request: IncomingMessage, response: ServerResponse]> = {
  findHeader: (name, { headers }) => headers[name],
  findUntrustedAddress: ({ socket }) => socket.remoteAddress,
  advice: "Count by ipKey(forwardedAddress(request.headers['x-forwarded-for'])).",
}

/**
 * Limits requests to a server of `node:http`. The function that it returns resolves to whether to serve the
 * request; if not, the request has been answered. An error that an option throws is reported, and the request is
 * answered with 500, because `node:http` does not handle errors of its listeners.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createRateLimiter, ipKey } from '@portcullis/ratelimit'
 * import { limitRequests } from '@portcullis/ratelimit/use/node'
 *
 * const limit = limitRequests({
 *   limiter: createRateLimiter({ limits: { ip: '60/minute' } }),
 *   keys: (request) => ({ ip: ipKey(request.socket.remoteAddress) }),
 * })
 * createServer(async (request, response) => {
 *   if (await limit(request, response)) response.end('hello')
 * })
 * ```
 *
 * @throws TypeError when an option is unknown or invalid
 */
export function limitRequests<
  Request extends IncomingMessage = IncomingMessage,
  Response extends ServerResponse = ServerResponse,
  Keys extends string = string,
>(
  options: LimitRequestsOptions<Request, Response, Keys>,
): (request: Request, response: Response) => Promise<boolean> {
  const gate = createGate(options, peer)
  const report = options.report ?? ((error) => console.error(error))
  return async (request, response) => {
    try {
      return sendOutcome(await gate(request, response), response)
    } catch (error) {
      report(error)
      return sendOutcome({ headers: failed.headers, answer: failed }, response)
    }
  }
}
