/**
 * A worker that ran this long did not fail for a reason that would affect its replacement
 * immediately.
 */
const longMs = 10_000

const firstDelayMs = 100
const longestDelayMs = 10_000

/** More consecutive failures to start than this are considered permanent. */
const permanentCount = 5

/**
 * Decides when a worker is replaced: immediately, and with growing delays while it keeps failing.
 */
export class Restarts {
  #shortLives = 0
  #failures = 0

  /** Called when a worker has started. */
  started(): void {
    this.#failures = 0
  }

  toDelayMs(livedMs: number): number {
    this.#failures += 1
    if (livedMs >= longMs) {
      this.#shortLives = 0
      return 0
    }
    const delayMs = this.#shortLives === 0 ? 0 : firstDelayMs * 2 ** (this.#shortLives - 1)
    this.#shortLives += 1
    return Math.min(delayMs, longestDelayMs)
  }

  /** Whether the last workers could not even start. */
  get hasPermanentFailure(): boolean {
    return this.#failures > permanentCount
  }
}
