import {
  type DescriptorStatus,
  type HeaderValue,
  OVER_LIMIT,
  type RateLimitResponse,
} from '../protocol/message.ts'
import { unlimitedRemaining } from './tally.ts'

/** The names of the three header fields that report a limit. */
export interface HeaderNames {
  /** The header with the number of requests that a window allows. */
  readonly limit: string
  /** The header with the number of remaining requests. */
  readonly remaining: string
  /** The header with the seconds until the window ends. */
  readonly reset: string
}

/**
 * Returns the three headers about the tightest limit: the last one that is exceeded, or else the first of
 * those with the fewest remaining hits.
 *
 * @param isQuota - whether the descriptor at an index is in quota mode, so that it does not refuse on its own
 */
export function toHeaders(
  statuses: readonly DescriptorStatus[],
  names: HeaderNames,
  isQuota: (index: number) => boolean,
): RateLimitResponse['responseHeadersToAdd'] {
  let tightest: DescriptorStatus | undefined
  let least = unlimitedRemaining
  statuses.forEach((status, index) => {
    if (status.currentLimit === undefined) return
    const isOver = status.code === OVER_LIMIT && !isQuota(index)
    if (!isOver && status.limitRemaining >= least) return
    tightest = status
    least = isOver ? 0 : status.limitRemaining
  })
  return tightest === undefined ? [] : headersOf(tightest, names)
}

function headersOf(status: DescriptorStatus, names: HeaderNames): HeaderValue[] {
  return [
    { key: names.limit, value: `${status.currentLimit?.requestsPerUnit ?? 0}` },
    { key: names.remaining, value: `${status.limitRemaining}` },
    { key: names.reset, value: `${status.resetSeconds ?? 0}` },
  ]
}
