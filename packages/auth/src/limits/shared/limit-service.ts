import type { LimiterName, RemainingRequests, RequestLimit } from '../request-limits.ts'

/** An external service that counts for several processes. */
export interface LimitService extends AsyncDisposable {
  /**
   * Resolves when the service is connected, and rejects at the first failure. Afterwards, the
   * service connects again by itself.
   */
  connect(): Promise<void>
  /**
   * Returns the seconds to wait; undefined if the request is allowed. Rejects if the service does
   * not respond.
   */
  take(limiter: LimiterName, key: string, limit: RequestLimit): Promise<number | undefined>
  /** Returns what is still allowed, as far as the service can report it without counting. */
  peek(limiter: LimiterName, key: string, limit: RequestLimit): Promise<RemainingRequests>
  /** Resets a count, if the service supports it. */
  clear(limiter: LimiterName, key: string): Promise<void>
  /** Replaces the current connection, because its response is no longer awaited. */
  drop(): void
}
