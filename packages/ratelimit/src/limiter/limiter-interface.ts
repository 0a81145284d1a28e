import type { LimitRequest } from './limit-request.ts'
import type { LimitResult } from './limit-result.ts'
import type { KeyValues, Limits } from './limits.ts'
import type { RulesText } from './rules-input.ts'

/**
 * Decides in your own process whether requests are allowed.
 * @typeParam Input what a request is described by: a `LimitRequest` where the rules are text or files,
 * values by key where limits are objects
 * @typeParam Rules what `load` takes
 */
export interface RateLimiter<Input = LimitRequest, Rules = RulesText> extends AsyncDisposable {
  /**
   * Resolves when the rules are loaded and the store answers, or its fallback stands in. Rejects with a
   * `RulesError`, or with a `StoreError` after `readyTimeoutMs`; the limiter goes on trying then. Calls need
   * not wait for it: they do so themselves.
   */
  readonly ready: Promise<void>
  /**
   * Counts a request and says whether it is allowed. Rejects with a `StoreError` when the store does not
   * answer, at once while it is known to be away; with a `ServiceError` when there are no rules; and with a
   * `TypeError` when the request makes no sense.
   */
  limit(request: Input, options?: LimitOptions): Promise<LimitResult>
  /**
   * The same without a promise, for limiters that count in memory and whose rules are not in a directory.
   * @throws {TypeError} for other limiters
   */
  limitSync(request: Input, options?: Pick<LimitOptions, 'hits'>): LimitResult
  /** Says what `limit` would answer and how the limits stand. Counts nothing. */
  peek(request: Input, options?: LimitOptions): Promise<LimitResult>
  /** Gives hits back, such as those of a request that failed. A counter stops at 0. */
  refund(request: Input, options?: LimitOptions): Promise<LimitResult>
  /** Counts hits even beyond the limit, such as for a wrong password. */
  penalty(request: Input, options?: LimitOptions): Promise<LimitResult>
  /** The same as `refund`, as the counterpart of `penalty`. */
  reward(request: Input, options?: LimitOptions): Promise<LimitResult>
  /**
   * Sets the counters of a request to 0 and lifts its blocks. Other processes that know it to be over a limit
   * go on refusing until the window ends, unless they have `localCache: false`.
   */
  reset(request: Input, options?: Pick<LimitOptions, 'timeoutMs'>): Promise<void>
  /**
   * Refuses requests for so many seconds, whatever the counters say, and counts nothing meanwhile. `reset`
   * lifts it. Rejects with a `TypeError` where the counters are not in memory and `sharedBlocks` is not set.
   */
  block(request: Input, seconds: number, options?: Pick<LimitOptions, 'timeoutMs'>): Promise<void>
  /**
   * Uses other rules from now on. Counters stay.
   * @throws {RulesError} when there is a fault in them; the rules before stay in force
   * @throws {TypeError} for a limiter that watches a directory
   */
  load(rules: Rules): void
  /** Name and value of every statistic, sorted by name. */
  statistics(): Promise<(readonly [name: string, value: number])[]>
  /** Closes what the limiter opened. */
  close(): Promise<void>
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A limiter whose limits are objects. */
export type KeyedRateLimiter<Keys extends string = string> = RateLimiter<KeyValues<Keys>, Limits>

/** The options of one decision. */
export interface LimitOptions {
  /**
   * How long the decision may take, in milliseconds, with the time until rules and store are there at the
   * start. Default: `timeoutMs` of the limiter, 1 s. More helps only at the start: Redis has at most 1 s for
   * an answer, memcached half of it.
   */
  readonly timeoutMs?: number | undefined
  /** How many hits the request counts, from 1. Default: 1. */
  readonly hits?: number | undefined
}
