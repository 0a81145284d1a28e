import { OVER_LIMIT, type RateLimitResponse } from '../protocol/message.ts'
import { unitByWire } from '../rules/units.ts'

export interface LimitResult {
  readonly isAllowed: boolean
  /** One per descriptor, in their order. */
  readonly statuses: readonly LimitStatus[]
  /**
   * Name and value of the header fields about the limit that matters most, in a form that `new Headers()`
   * takes. Empty where no limit applied.
   */
  readonly headers: [name: string, value: string][]
  /** When another attempt makes sense; undefined where the request is allowed. */
  readonly retryAfterSeconds: number | undefined
}

export interface LimitStatus {
  readonly isOver: boolean
  /** Undefined where no rule matched, or one that is unlimited. */
  readonly limit: { readonly requestsPerUnit: number; readonly unit: string } | undefined
  readonly remaining: number
  readonly resetSeconds: number | undefined
}

export function toLimitResult(response: RateLimitResponse): LimitResult {
  const isAllowed = response.overallCode !== OVER_LIMIT
  const statuses = response.statuses.map(
    ({ code, currentLimit, limitRemaining, resetSeconds }): LimitStatus => ({
      isOver: code === OVER_LIMIT,
      limit: currentLimit && {
        requestsPerUnit: currentLimit.requestsPerUnit,
        unit: unitByWire(currentLimit.unit)?.name.toLowerCase() ?? 'unknown',
      },
      remaining: limitRemaining,
      resetSeconds,
    }),
  )
  return {
    isAllowed,
    statuses,
    headers: response.responseHeadersToAdd.map(({ key, value }) => [key, value]),
    retryAfterSeconds: isAllowed ? undefined : toRetryAfter(statuses),
  }
}

/** All limits that refuse must have room again. */
function toRetryAfter(statuses: readonly LimitStatus[]): number {
  const waits = statuses.filter(({ isOver }) => isOver).map(({ resetSeconds }) => resetSeconds ?? 1)
  return Math.max(1, ...waits)
}
