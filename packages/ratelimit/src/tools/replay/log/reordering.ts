import type { RecordedRequest } from '../recorded-request.ts'

/** The requests of one second, in the order of the log. */
interface Second {
  readonly second: number
  readonly requests: RecordedRequest[]
  isSorted: boolean
  lastMs: number
}

/**
 * Sorts requests by time. A line is written when its request ends, so a long request comes after others that
 * started later. Requests that are older than the latest time by more than the window are passed on;
 * requests that arrive even later are counted as late and passed on immediately.
 */
export class Reordering {
  readonly #windowSeconds: number
  readonly #take: (request: RecordedRequest, isLate: boolean) => void
  /** Ordered by time, and never longer than the window. */
  #pending: Second[] = []
  /** All requests before this second were passed on. */
  #openFrom = Number.NEGATIVE_INFINITY

  constructor(windowMs: number, take: (request: RecordedRequest, isLate: boolean) => void) {
    this.#windowSeconds = Math.ceil(windowMs / 1000)
    this.#take = take
  }

  push(request: RecordedRequest): void {
    const second = Math.floor(request.timeMs / 1000)
    if (second < this.#openFrom) {
      this.#take(request, true)
      return
    }
    this.#add(second, request)
    if (second - this.#windowSeconds > this.#openFrom) this.#giveOut(second - this.#windowSeconds)
  }

  /** The end of the log: passes on all remaining requests. */
  end(): void {
    this.#giveOut(Number.POSITIVE_INFINITY)
  }

  #add(second: number, request: RecordedRequest): void {
    const { timeMs } = request
    const pending = this.#pending
    let index = pending.length - 1
    while ((pending[index]?.second ?? second) > second) index -= 1
    const found = pending[index]
    if (found?.second === second) {
      found.requests.push(request)
      if (timeMs < found.lastMs) found.isSorted = false
      else found.lastMs = timeMs
    } else {
      pending.splice(index + 1, 0, { second, requests: [request], isSorted: true, lastMs: timeMs })
    }
  }

  #giveOut(before: number): void {
    this.#openFrom = before
    while ((this.#pending[0]?.second ?? before) < before) {
      const next = this.#pending.shift()
      if (next === undefined) return
      // The sort is stable: requests of the same millisecond stay in the order of the log.
      if (!next.isSorted) next.requests.sort((a, b) => a.timeMs - b.timeMs)
      for (const request of next.requests) this.#take(request, false)
    }
  }
}
