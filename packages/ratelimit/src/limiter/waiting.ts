import { StoreError } from '../counters/counter-store.ts'

/**
 * Whether decisions can be made. Those who wait are kept in a list that they leave when their time is over:
 * a promise that never settles would keep all of them.
 */
export class Readiness {
  #isOver = false
  readonly #waiting = new Set<() => void>()

  /** Whether there is nothing to wait for. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  end(): void {
    this.#isOver = true
    for (const go of this.#waiting) go()
    this.#waiting.clear()
  }

  /** Rejects with a `StoreError` when the time is over. */
  wait(timeoutMs: number): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(go)
        reject(new StoreError(`the rate limiter was not ready within ${timeoutMs} ms`))
      }, timeoutMs)
      const go = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#waiting.add(go)
    })
  }
}

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
