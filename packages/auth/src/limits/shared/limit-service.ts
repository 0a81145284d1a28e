import type { LimiterName, RequestLimit, Room } from '../request-limits.ts'

/** Somebody else who counts, for several processes. */
export interface LimitService extends AsyncDisposable {
  /** Resolves when it can be asked. Until then it goes on trying, whoever stops waiting. */
  connect(): Promise<void>
  /** How many seconds to wait; undefined: it may pass. Rejects where no answer comes. */
  take(limiter: LimiterName, key: string, limit: RequestLimit): Promise<number | undefined>
  /** What is still allowed, as far as the service can tell without counting. */
  peek(limiter: LimiterName, key: string, limit: RequestLimit): Promise<Room>
  /** Forgets what was counted, where the service can. */
  clear(limiter: LimiterName, key: string): Promise<void>
  /** Nobody waits for its answer any more: what the connection still holds is given up. */
  drop(): void
}
