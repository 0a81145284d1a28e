import type { StoreError } from '../counter-store.ts'

/** A call that waits for a reply. */
export interface Waiter {
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number
  readonly isDone: boolean
  fail(reason: StoreError): void
}

/** The outstanding replies, oldest first. */
export interface OutstandingReplies {
  readonly length: number
  waiterAt(distance: number): Waiter | undefined
}

export interface ReplyWatchSettings {
  readonly replies: OutstandingReplies
  /** The error for calls whose deadline has passed. */
  readonly late: StoreError
  /** Called regularly while replies are outstanding, with the time since the last bytes arrived. */
  readonly onSilence: (silentMs: number) => void
}

/** The interval at which deadlines are checked; Envoy's default timeout is 20 ms. */
const tickMs = 5

/** Enforces the deadlines of all calls that wait for replies on one connection, with a single timer. */
export class ReplyWatch {
  readonly #settings: ReplyWatchSettings
  #ticker: NodeJS.Timeout | undefined
  #isTicking = false
  #isStopped = false
  #silentTicks = 0
  #nextDeadlineMs = Number.POSITIVE_INFINITY

  constructor(settings: ReplyWatchSettings) {
    this.#settings = settings
  }

  /** Registers the deadline of a call. */
  note(deadlineMs: number): void {
    if (deadlineMs < this.#nextDeadlineMs) this.#nextDeadlineMs = deadlineMs
  }

  /** Replies are outstanding from now on. */
  start(): void {
    if (this.#isTicking || this.#isStopped) return
    this.#isTicking = true
    if (this.#ticker === undefined) this.#ticker = setTimeout(this.#tick, tickMs)
    else this.#ticker.refresh()
  }

  /** Bytes arrived, or no reply is expected yet. */
  endSilence(): void {
    this.#silentTicks = 0
  }

  /** Stops permanently. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#ticker)
  }

  readonly #tick = (): void => {
    const { replies, onSilence } = this.#settings
    if (replies.length === 0 || this.#isStopped) {
      this.#isTicking = false
      return
    }
    this.#ticker?.refresh()
    // Buffered replies are read first: this process may have paused, and not the server.
    if (performance.now() >= this.#nextDeadlineMs) setImmediate(this.#failLate)
    onSilence(++this.#silentTicks * tickMs)
  }

  /** Late calls fail now; their replies are still read, and then ignored. */
  readonly #failLate = (): void => {
    const { replies, late } = this.#settings
    if (this.#isStopped) return
    const nowMs = performance.now()
    this.#nextDeadlineMs = Number.POSITIVE_INFINITY
    let nextDeadlineMs = Number.POSITIVE_INFINITY
    for (let i = 0; i < replies.length; i++) {
      const waiter = replies.waiterAt(i)
      if (waiter === undefined || waiter.isDone) continue
      if (waiter.deadlineMs <= nowMs) waiter.fail(late)
      else if (waiter.deadlineMs < nextDeadlineMs) nextDeadlineMs = waiter.deadlineMs
    }
    // A failed call may have started a new one in its callback.
    this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, nextDeadlineMs)
  }
}
