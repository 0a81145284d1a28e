/**
 * The server responded with 429. This says nothing about how it implements GraphQL over HTTP, so no
 * audit counts it as a violation.
 */
export class RateLimitedError extends Error {
  override readonly name = 'RateLimitedError'
  /** How long the server asks the client to wait. */
  readonly retryAfterMs: number

  /** Only audits create these errors. */
  constructor(retryAfterMs: number) {
    super(`The server limits requests (429): try again in ${Math.ceil(retryAfterMs / 1000)} s`)
    this.retryAfterMs = retryAfterMs
  }
}

const USUAL_WAIT_MS = 1_000

/** Reads `Retry-After`, which contains seconds or a date. */
export function toRateLimited({ headers }: Response): RateLimitedError {
  const text = headers.get('retry-after') ?? ''
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return new RateLimitedError(waitMs > 0 ? waitMs : USUAL_WAIT_MS)
}

/** Finds the error itself or one among its causes. */
export function findRateLimited(error: unknown): RateLimitedError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof RateLimitedError) return cause
  }
  return undefined
}
