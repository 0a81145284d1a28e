import type { RecordedRequest } from '../recorded-request.ts'

/** The requests of one second, as they were read. */
interface Second {
  readonly second: number
  readonly requests: RecordedRequest[]
  isSorted: boolean
  lastMs: number
}

/**
 * Brings requests into the order of their times. A log is written when requests end, so that one
 * which took long stands after others that began later. What is older than the window by the
 * latest time seen is given out; what comes later than that is late, and given out at once.
 */
export class Reordering {
  readonly #windowSeconds: number
  readonly #take: (request: RecordedRequest, isLate: boolean) => void
  /** In the order of time; never more than the window is long. */
  #pending: Second[] = []
  /** All before this second was given out. */
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

  /** The log is over: nothing can come in between any more. */
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
      // Stable: requests of the same millisecond stay in the order of the log.
      if (!next.isSorted) next.requests.sort((a, b) => a.timeMs - b.timeMs)
      for (const request of next.requests) this.#take(request, false)
    }
  }
}
