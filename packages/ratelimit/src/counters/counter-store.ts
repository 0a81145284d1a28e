/**
 * One counter to change. The store writes the outcome into it. After a failed call it is not used
 * for another: a late answer may still need its name.
 */
export interface Increment {
  /** The cache key up to the window: `<prefix><domain>_<key>_<value>_…_`. */
  readonly key: string
  /** The start of the window in Unix seconds. Key and window together name the counter. */
  readonly window: number
  /** How long the window lasts. The counter may be forgotten when it is over. */
  readonly unitSeconds: number
  /** What to add. 0 only reads. Negative is a refund, which never brings a counter below 0. */
  readonly hits: number
  /** The count after the change, set by the store before it calls back. */
  after: number
}

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
  /** Sets `after` to the present count of each and changes nothing. */
  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void
}

/** The store did not answer as it should. The message goes to the caller and to the log. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}
