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
