import type { Counted, Increment, StoreError } from '../counter-store.ts'

/** One `add` or `read` while its replies are on the way. Calls back exactly once. */
export class Call {
  /** Whether the counts are only read. */
  readonly isRead: boolean
  readonly deadlineMs: number
  /** How many increments have no answer yet. */
  left: number
  /** How often a cluster may still send one of the increments to another node. */
  redirectionsLeft: number
  isDone = false
  readonly #counted: Counted

  constructor(isRead: boolean, size: number, deadlineMs: number, counted: Counted) {
    this.isRead = isRead
    this.deadlineMs = deadlineMs
    this.left = size
    this.redirectionsLeft = 5 * size
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

  fail(error: StoreError): void {
    if (this.isDone) return
    this.isDone = true
    this.#counted(error)
  }
}
