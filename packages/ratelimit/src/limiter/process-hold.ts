/** The longest a timer can wait. */
const longestMs = 2 ** 31 - 1

/**
 * Keeps the process running while calls wait for an answer. The sockets of the limiter do not: a script ends
 * when it has nothing left to do, even if it did not close its limiter.
 */
export class ProcessHold {
  #pending = 0
  #timer: NodeJS.Timeout | undefined

  begin(): void {
    this.#pending += 1
    if (this.#pending > 1) return
    if (this.#timer === undefined) this.#timer = setInterval(() => {}, longestMs)
    else this.#timer.ref()
  }

  end(): void {
    this.#pending -= 1
    if (this.#pending === 0) this.#timer?.unref()
  }

  /** Waits for something with the process kept running. */
  async during<Value>(promise: Promise<Value>): Promise<Value> {
    this.begin()
    try {
      return await promise
    } finally {
      this.end()
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
