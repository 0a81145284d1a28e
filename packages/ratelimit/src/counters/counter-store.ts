/**
 * One counter to change. The store writes the outcome into it. After a failed call it is not used
 * for another: a late answer may still need its name.
 */
export interface Increment {
  /** The cache key up to the window: `<prefix><domain>_<key>_<value>_…_`. */
  readonly key: string
  /**
   * The start of the window in Unix seconds. Key and window together name the counter; a sliding
   * one is another than the fixed one of the same name.
   */
  readonly window: number
  /** How long the window lasts. The counter may be forgotten when it is over, a sliding one later. */
  readonly unitSeconds: number
  /** What to add. 0 only reads. Negative is a refund, which never brings a counter below 0. */
  readonly hits: number
  /** What the caller allows. Fixed counters go beyond it; a sliding one takes no hits that would. */
  readonly most: number
  /** Whether a count above `most` refuses the request by itself. */
  readonly isStrict: boolean
  /**
   * 0 for a fixed window. For a sliding one, how many milliseconds of the window before still count,
   * from 1 to the whole of it. The count is then that of this window plus the share of the one
   * before, rounded down: `current + floor(previous * overlapMs / (unitSeconds * 1000))`. Hits that
   * would bring it above `most` are not added, so that who is refused and tries on is let in again.
   */
  readonly overlapMs: number
  /**
   * The count after the change, set by the store before it calls back. For a sliding counter with
   * the hits asked for, whether they were added or not: above `most` exactly when they were not.
   */
  after: number
  /**
   * What the whole window before a sliding one counts, set by the store before it calls back: the
   * caller can tell from it when there will be room. Stores leave that of a fixed one alone.
   */
  previous: number
}

/** Counters stop here: above it no store and no double counts one by one. */
export const highestCount = Number.MAX_SAFE_INTEGER

/** `undefined` when everything was counted, otherwise why nothing can be said. */
export type Counted = (error: StoreError | undefined) => void

/**
 * Counts and never decides. Every implementation passes `test/counters/contract.ts`.
 *
 * Callbacks, not promises: a store that knows the answer at once calls back before it returns, and
 * the answer leaves with the bytes of the request's own turn.
 */
export interface CounterStore extends AsyncDisposable {
  /**
   * Changes every counter and then calls back once. Each change is atomic by itself. All of them
   * fail together: a caller cannot tell which were made.
   * @param deadlineMs when the caller stops waiting, as `Date.now()`; `Infinity` for never.
   */
  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void
  /**
   * The same, but where a strict counter has no room for its hits (its count with them would be above
   * `most`), nothing is added to those that have room: their `after` is without the hits. Refunds are
   * made all the same. Each counter is looked at by itself before any is changed. Looking and adding
   * is one step wherever the store can do that; otherwise see `look-then-add.ts`.
   */
  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void
  /** Sets `after` to the present count of each, without the hits, and changes nothing. */
  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void
}

/** The store did not answer as it should. The message goes to the caller and to the log. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError'
}

/** The store works, but cannot have a counter of that name: the request is at fault (rule 12). */
export class CounterKeyError extends StoreError {
  override readonly name = 'CounterKeyError'
}
