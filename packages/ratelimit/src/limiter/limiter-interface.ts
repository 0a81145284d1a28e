import type { LimitRequest } from './limit-request.ts'
import type { LimitResult } from './limit-result.ts'
import type { KeyValues, Limits } from './rules/limits.ts'
import type { RulesText } from './rules/rules-input.ts'

/**
 * Decides in your own process whether requests are allowed.
 * @typeParam Input - the description of a request: a `LimitRequest` for rules that are text or files, values by
 * key for limits that are objects
 * @typeParam Rules - the argument of `load`
 */
export interface RateLimiter<Input = LimitRequest, Rules = RulesText> extends AsyncDisposable {
  /**
   * Resolves when the rules are loaded and the store answers, or its fallback is used. Rejects with a
   * `RulesError`, or with a `StoreError` after `readyTimeoutMs`; the limiter then keeps trying. You need not
   * await it: other calls wait by themselves.
   */
  readonly ready: Promise<void>
  /**
   * Counts a request and returns whether it is allowed. Rejects with a `StoreError` when the store does not
   * answer, immediately while it is known to be unavailable; with a `ServiceError` when there are no rules, or when
   * the request has no domain or no descriptors; and with a `TypeError` when the request is invalid.
   */
  limit(request: Input, options?: LimitOptions): Promise<LimitResult>
  /**
   * Like `limit`, without a promise, for limiters that count in memory and whose rules are not in a folder.
   * @throws TypeError for other limiters
   */
  limitSync(request: Input, options?: Pick<LimitOptions, 'hits'>): LimitResult
  /** Returns what `limit` would return, without counting the request. */
  peek(request: Input, options?: LimitOptions): Promise<LimitResult>
  /** Refunds hits, such as those of a request that failed. A counter never goes below 0. */
  refund(request: Input, options?: LimitOptions): Promise<LimitResult>
  /** Counts hits even beyond the limit, such as for a wrong password. */
  penalty(request: Input, options?: LimitOptions): Promise<LimitResult>
  /** The same as `refund`, as the counterpart of `penalty`. */
  reward(request: Input, options?: LimitOptions): Promise<LimitResult>
  /**
   * Sets the counters of a request to 0 and removes its blocks. Other processes whose local cache contains the
   * counters keep refusing the request until the window ends, unless they have `localCache: false`.
   */
  reset(request: Input, options?: Pick<LimitOptions, 'timeoutMs'>): Promise<void>
  /**
   * Refuses requests for a number of seconds, whatever the counters are, and does not count them. `reset`
   * removes the block. Rejects with a `TypeError` if the counters are not in memory and `sharedBlocks` is not set.
   */
  block(request: Input, seconds: number, options?: Pick<LimitOptions, 'timeoutMs'>): Promise<void>
  /**
   * Replaces the rules and keeps the counters.
   * @throws RulesError when there is an error in them; the previous rules stay in force
   * @throws TypeError for a limiter that watches a folder
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
   * The timeout of the decision in milliseconds, including the time until rules and store are ready at
   * startup. Default: `timeoutMs` of the limiter, 1 s. A longer timeout helps only at startup: the timeout of
   * Redis is at most 1 s, that of memcached half of it.
   */
  readonly timeoutMs?: number | undefined
  /** The number of hits of the request, at least 1. Default: 1. */
  readonly hits?: number | undefined
}
