import type { AnyKey, EncodedKey } from '../structures/key-bytes.ts'

/**
 * One counter to change. The store writes the result into it. Do not reuse the object after a failed
 * call, because a late reply may still need its name.
 */
export interface Increment {
  /** The cache key up to the window: `<prefix><domain>_<key>_<value>_…_`. */
  readonly key: string
  /**
   * The start of the window in Unix seconds. Key and window together identify the counter; a sliding
   * counter is distinct from a fixed one of the same name.
   */
  readonly window: number
  /** The length of the window. A store may drop a fixed counter when its window ends, a sliding one later. */
  readonly unitSeconds: number
  /** The hits to add. 0 only reads. A negative number is a refund, which never brings a counter below 0. */
  readonly hits: number
  /** The limit. Fixed counters can exceed it; hits that would bring a sliding one above it are not added. */
  readonly most: number
  /** Whether a count above `most` refuses the request by itself. */
  readonly isStrict: boolean
  /**
   * 0 for a fixed window. For a sliding one, how many milliseconds of the previous window still count,
   * from 1 to its full length. The count is then that of this window plus the share of the previous
   * one, rounded down: `current + floor(previous * overlapMs / (unitSeconds * 1000))`. Hits that would
   * bring it above `most` are not added, so that a client that keeps trying is allowed again.
   */
  readonly overlapMs: number
  /**
   * The count after the change, set by the store before it calls back. For a sliding counter it
   * includes the hits whether they were added or not: it is above `most` exactly when they were not.
   */
  after: number
  /**
   * The full count of the window before a sliding one, set by the store before it calls back. The
   * caller computes from it when hits will be allowed again. Stores do not set it for fixed windows.
   */
  previous: number
}

/** An increment inside this package, whose key may be known in encoded form. */
export interface EncodedIncrement extends Increment {
  readonly encodedKey?: EncodedKey | undefined
}

/** Does not read `key` if the key is encoded, because a tally would create its text. */
export function keyOf(increment: Pick<EncodedIncrement, 'key' | 'encodedKey'>): AnyKey {
  return increment.encodedKey ?? increment.key
}

/** Counters stop here: above it, neither a store nor a double can count in steps of one. */
export const highestCount = Number.MAX_SAFE_INTEGER

/** The error is `undefined` when everything was counted; otherwise the counts are unknown. */
export type Counted = (error: StoreError | undefined) => void

/**
 * Counts and never decides. Every implementation passes `test/counters/contract.ts`.
 *
 * It uses callbacks instead of promises: a store that knows the counts immediately calls back before it
 * returns, and the response is written in the same turn of the event loop as the request was read.
 */
export interface CounterStore extends AsyncDisposable {
  /**
   * Changes every counter and then calls back once. Each change is atomic on its own. They fail together: the caller
   * cannot know which changes were made. After a call without an error, the store no longer uses the increments.
   * @param deadlineMs - when the caller stops waiting, on the clock of `performance.now()`; `Infinity` for never
   */
  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void
  /**
   * Like `add`, but if a strict counter has no room for its hits (its count with them would be above
   * `most`), nothing is added to the counters that have room: their `after` is without the hits. Refunds
   * are always made. Each counter is checked on its own before any is changed. Checking and adding is
   * one atomic step if the store supports it; otherwise see `read-then-add.ts`.
   */
  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void
  /** Sets `after` to the current count of each, without the hits, and changes nothing. */
  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void
}

/** The store failed. The message is sent to the client and logged. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError'
}

/** The store works, but does not allow a counter of that name, so the request is invalid. */
export class CounterKeyError extends StoreError {
  override readonly name = 'CounterKeyError'
}
