const pauseMs = 1_000

/** At most a line a second, which says how many it stands for: a dead node fills no log. */
export class FailureLog {
  readonly #write: (message: string) => void
  #quietUntilMs = Number.NEGATIVE_INFINITY
  #leftOut = 0

  constructor(write: (message: string) => void) {
    this.#write = write
  }

  report(toMessage: () => string): void {
    const nowMs = performance.now()
    if (nowMs < this.#quietUntilMs) {
      this.#leftOut++
      return
    }
    const leftOut = this.#leftOut === 0 ? '' : ` (${this.#leftOut} more before it)`
    this.#quietUntilMs = nowMs + pauseMs
    this.#leftOut = 0
    this.#write(`${toMessage()}${leftOut}`)
  }
}
