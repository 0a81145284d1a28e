import type { StoreError } from '../counter-store.ts'

/** Who waits for a reply. */
export interface Waiter {
  /** As `Date.now()`. */
  readonly deadlineMs: number
  readonly isDone: boolean
  fail(reason: StoreError): void
}

/** The replies that are on the way, the oldest first. */
export interface RepliesOnTheWay {
  readonly length: number
  waiterAt(distance: number): Waiter | undefined
}

export interface ReplyWatchSettings {
  readonly replies: RepliesOnTheWay
  /** What those get whose deadline is over. */
  readonly late: StoreError
  /** From time to time while replies are on the way, with how long nothing was heard. */
  readonly onSilence: (silentMs: number) => void
}

/** Deadlines are looked at this often; Envoy's usual one is 20 ms. */
const tickMs = 5

/** Looks after the deadlines of all who wait for replies of one connection, with one timer. */
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

  /** Somebody waits until then. */
  note(deadlineMs: number): void {
    if (deadlineMs < this.#nextDeadlineMs) this.#nextDeadlineMs = deadlineMs
  }

  /** Replies are on the way from now on. */
  start(): void {
    if (this.#isTicking || this.#isStopped) return
    this.#isTicking = true
    if (this.#ticker === undefined) this.#ticker = setTimeout(this.#tick, tickMs)
    else this.#ticker.refresh()
  }

  /** Something was heard, or there is nothing yet that could be. */
  endSilence(): void {
    this.#silentTicks = 0
  }

  /** For good. */
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
    // Not before what lies in the socket was read: it is we who may have paused, and not the server.
    if (Date.now() >= this.#nextDeadlineMs) setImmediate(this.#failLate)
    onSilence(++this.#silentTicks * tickMs)
  }

  /** They fail now; their replies are still awaited, and then mean nothing. */
  readonly #failLate = (): void => {
    const { replies, late } = this.#settings
    if (this.#isStopped) return
    const nowMs = Date.now()
    this.#nextDeadlineMs = Number.POSITIVE_INFINITY
    let nextDeadlineMs = Number.POSITIVE_INFINITY
    for (let i = 0; i < replies.length; i++) {
      const waiter = replies.waiterAt(i)
      if (waiter === undefined || waiter.isDone) continue
      if (waiter.deadlineMs <= nowMs) waiter.fail(late)
      else if (waiter.deadlineMs < nextDeadlineMs) nextDeadlineMs = waiter.deadlineMs
    }
    // Whoever failed may have asked for something new.
    this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, nextDeadlineMs)
  }
}
