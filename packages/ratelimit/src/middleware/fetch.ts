import { createGate, type Outcome } from './shared/gate.ts'
import { isAppended } from './shared/header-styles.ts'
import type { MiddlewareOptions } from './shared/options.ts'
import type { Peer } from './shared/proxy-warning.ts'

export type * from './shared/exported-types.ts'

/**
 * Options of {@link limitRequests} for fetch handlers. `Rest` is what the host passes besides the request: the
 * parameters of a route in Next.js, the server in Bun, the connection in Deno.
 */
export type LimitRequestsOptions<
  Rest extends readonly unknown[] = [],
  Req extends Request = Request,
  Keys extends string = string,
> = MiddlewareOptions<[request: Req, ...rest: Rest], Keys>

const peer: Peer<[request: Request, ...rest: readonly unknown[]]> = {
  findHeader: (name, request, ...rest) =>
    findAddress(request, rest) === undefined ? undefined : (request.headers.get(name) ?? undefined),
  findUntrustedAddress: (request, ...rest) => findAddress(request, rest),
  advice: "Count by ipKey(forwardedAddress(request.headers.get('x-forwarded-for'))).",
}

/** The second argument that Deno and Bun pass. */
interface HostInfo {
  readonly remoteAddr?: { readonly hostname?: string }
  readonly requestIP?: (request: Request) => { readonly address: string } | null
}

/** The address of the connection, on runtimes that provide it. */
function findAddress(request: Request, [info]: readonly unknown[]): string | undefined {
  if (typeof info !== 'object' || info === null) return undefined
  const host: HostInfo = info
  if (typeof host.requestIP === 'function') return host.requestIP(request)?.address
  return host.remoteAddr?.hostname
}

/**
 * Wraps a fetch handler, as routes of Next.js, `Bun.serve`, `Deno.serve` and others have them.
 *
 * @example
 * ```ts
 * import { createRateLimiter, forwardedAddress, ipKey } from '@portcullis/ratelimit'
 * import { limitRequests } from '@portcullis/ratelimit/use/fetch'
 *
 * export const GET = limitRequests(
 *   {
 *     limiter: createRateLimiter({ limits: { ip: '60/minute' } }),
 *     keys: (request) => ({
 *       ip: ipKey(forwardedAddress(request.headers.get('x-forwarded-for'))),
 *     }),
 *   },
 *   () => Response.json({ hello: 'world' }),
 * )
 * ```
 *
 * @param handle - answers the requests that are served
 * @throws TypeError when an option is unknown or invalid
 */
export function limitRequests<
  Rest extends readonly unknown[] = [],
  Req extends Request = Request,
  Keys extends string = string,
>(
  options: LimitRequestsOptions<Rest, Req, Keys>,
  handle: (request: Req, ...rest: Rest) => Response | Promise<Response>,
): (request: Req, ...rest: Rest) => Promise<Response> {
  const gate = createGate(options, peer)
  if (typeof handle !== 'function') {
    throw new TypeError(
      'limitRequests: the second argument must be the fetch handler to limit: ' +
        'limitRequests(options, (request) => new Response())',
    )
  }
  return async (request, ...rest) => {
    const { headers, answer } = await gate(request, ...rest)
    if (answer === undefined) return withHeaders(await handle(request, ...rest), headers)
    // A response with one of these statuses must not have a body.
    const body = answer.status === 204 || answer.status === 304 ? null : answer.body
    return withHeaders(new Response(body, { status: answer.status }), headers)
  }
}

function withHeaders(response: Response, headers: Outcome['headers']): Response {
  // The response to an upgrade cannot be copied.
  if (headers.length === 0 || response.status === 101) return response
  try {
    setHeaders(response, headers)
    return response
  } catch {
    // The headers of a response that came from fetch() or Response.redirect() cannot be changed.
    const copy = new Response(response.body, response)
    setHeaders(copy, headers)
    return copy
  }
}

function setHeaders({ headers: own }: Response, headers: Outcome['headers']): void {
  for (const [name, value] of headers) {
    if (isAppended(name)) own.append(name, value)
    else own.set(name, value)
  }
}
