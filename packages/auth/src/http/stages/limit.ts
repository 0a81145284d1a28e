import { ApiError } from '../../errors.ts'
import type { RequestLimits } from '../../limits/request-limits.ts'
import type { Endpoint } from '../endpoint.ts'

/**
 * Counts a request against the limit of its endpoint before its body is validated, so that invalid
 * requests count as well. @throws {ApiError} if the limit is exceeded.
 */
export async function checkLimit(
  { limiter }: Endpoint,
  request: { readonly limitKey: string; readonly body: unknown; readonly query: unknown },
  limits: RequestLimits,
): Promise<void> {
  const name =
    typeof limiter === 'function' ? limiter(Object(request.body), Object(request.query)) : limiter
  if (name === undefined) return
  const waitSeconds = await limits.take(name, request.limitKey)
  if (waitSeconds === undefined) return
  throw new ApiError('over_request_rate_limit', 'Request rate limit reached', {
    retryAfterSeconds: waitSeconds,
  })
}
