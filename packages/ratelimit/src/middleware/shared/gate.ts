import type { LimitRequest } from '../limiter/limit-request.ts'
import type { LimitResult } from '../limiter/limit-result.ts'
import type { RateLimiter } from '../limiter/rate-limiter.ts'

/** What every middleware takes. `Exchange` is what its framework hands to middlewares. */
export interface GateOptions<Exchange> {
  readonly limiter: RateLimiter
  readonly domain: string
  /** What the request counts as; none: it passes uncounted. */
  readonly descriptors: (
    exchange: Exchange,
  ) => LimitRequest['descriptors'] | Promise<LimitRequest['descriptors']>
  /** How many hits it is worth; 1 unless told. */
  readonly hits?: (exchange: Exchange) => number
  /** How long a decision may take, 1 s unless told. */
  readonly timeoutMs?: number
  /**
   * What happens when no decision can be made: `allow` (the default) serves the request, `deny`
   * answers 503.
   */
  readonly onFailure?: 'allow' | 'deny'
  /** Hears why no decision was made. */
  readonly report?: (error: unknown) => void
}

/** What to do with a request: headers for its response, and an answer where it may not pass. */
export interface Outcome {
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly answer: Answer | undefined
}

export interface Answer {
  readonly status: 429 | 503
  readonly body: string
}

const passes: Outcome = { headers: [], answer: undefined }

/** The part of all middlewares that knows no framework. */
export function createGate<Exchange>(
  options: GateOptions<Exchange>,
): (exchange: Exchange) => Promise<Outcome> {
  const { limiter, domain, timeoutMs = 1_000, onFailure = 'allow', report } = options
  return async (exchange) => {
    const descriptors = await options.descriptors(exchange)
    if (descriptors.length === 0) return passes
    const hits = options.hits?.(exchange)
    const request = { domain, descriptors, ...(hits !== undefined && { hits }) }
    try {
      return toOutcome(await limiter.limit(request, { timeoutMs }))
    } catch (error) {
      // The caller's own mistake would otherwise be an outage nobody notices.
      if (error instanceof TypeError) throw error
      report?.(error)
      return onFailure === 'allow' ? passes : unavailable
    }
  }
}

const contentType = ['content-type', 'application/json; charset=utf-8'] as const

const unavailable: Outcome = {
  headers: [contentType],
  answer: {
    status: 503,
    body: JSON.stringify({ error: 'The rate limit could not be checked. Try again.' }),
  },
}

function toOutcome({ isAllowed, headers, retryAfterSeconds }: LimitResult): Outcome {
  if (isAllowed) return { headers, answer: undefined }
  const seconds = retryAfterSeconds ?? 1
  const error = `Too many requests. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
  return {
    headers: [...headers, ['retry-after', `${seconds}`], contentType],
    answer: { status: 429, body: JSON.stringify({ error }) },
  }
}
