import type { Counted, Increment, StoreError } from '../../counter-store.ts'

/** One call of the store while its replies are outstanding. Calls back exactly once. */
export class Call {
  /** Whether the counts are only read. */
  readonly isRead: boolean
  readonly increments: readonly Increment[]
  readonly deadlineMs: number
  /** The number of increments without a reply. */
  left: number
  /** How often a cluster may still redirect one of the increments. */
  redirectionsLeft: number
  isDone = false
  readonly #counted: Counted

  constructor(
    isRead: boolean,
    increments: readonly Increment[],
    deadlineMs: number,
    counted: Counted,
  ) {
    this.isRead = isRead
    this.increments = increments
    this.deadlineMs = deadlineMs
    this.left = increments.length
    this.redirectionsLeft = 5 * increments.length
    this.#counted = counted
  }

  /** A reply that arrives after the call failed is ignored, because the caller may have reused its data. */
  answer(increment: Increment, after: number): void {
    if (this.isDone) return
    increment.after = after
    this.left -= 1
    if (this.left > 0) return
    this.isDone = true
    this.#counted(undefined)
  }

  /** Hands over the callback, so that this call no longer uses it. */
  release(): Counted {
    this.isDone = true
    return this.#counted
  }

  fail(error: StoreError): void {
    if (this.isDone) return
    this.isDone = true
    this.#counted(error)
  }
}
