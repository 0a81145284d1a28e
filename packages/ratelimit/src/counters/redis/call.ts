import type { Counted, Increment, StoreError } from '../counter-store.ts'

/** One call of the store while its replies are on the way. Calls back exactly once. */
export class Call {
  /** Whether the counts are only read. */
  readonly isRead: boolean
  readonly increments: readonly Increment[]
  readonly deadlineMs: number
  /** How many increments have no answer yet. */
  left: number
  /** How often a cluster may still send one of the increments to another node. */
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

  /** A reply that comes after the call failed changes nothing: the caller may have moved on. */
  answer(increment: Increment, after: number): void {
    if (this.isDone) return
    increment.after = after
    this.left -= 1
    if (this.left > 0) return
    this.isDone = true
    this.#counted(undefined)
  }

  /** Somebody else answers the caller from now on. */
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
