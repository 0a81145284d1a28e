import { StoreError } from '../counters/counter-store.ts'

/**
 * Whether decisions can be made. Waiting calls are kept in a list, which they leave after their timeout: a
 * promise that never settles would retain all of them.
 */
export class Readiness {
  #isReady = false
  readonly #waiting = new Set<() => void>()

  get isReady(): boolean {
    return this.#isReady
  }

  /** The number of waiting calls. */
  get waiting(): number {
    return this.#waiting.size
  }

  markReady(): void {
    this.#isReady = true
    for (const resume of this.#waiting) resume()
    this.#waiting.clear()
  }

  /** Rejects with a `StoreError` when the time is over. */
  wait(timeoutMs: number): Promise<void> {
    if (this.#isReady) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(resume)
        reject(new StoreError(`the rate limiter was not ready within ${timeoutMs} ms`))
      }, timeoutMs)
      const resume = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#waiting.add(resume)
    })
  }
}

/** The longest delay that a timer can have. */
const longestMs = 2 ** 31 - 1

/**
 * Keeps the process running while calls are in progress. The sockets of the limiter do not: a script exits
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

  /** Keeps the process running until the promise settles. */
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

/** Rejects with a `StoreError` when the time is over. */
export async function withTimeout(promise: Promise<void>, timeoutMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    reject(
      new StoreError(`the store did not answer within ${timeoutMs} ms; the limiter keeps trying`),
    )
  }, timeoutMs)
  try {
    await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
