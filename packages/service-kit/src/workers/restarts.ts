/** One that lived so long is not lost for a reason that the next one would meet at once. */
const longMs = 10_000

const firstDelayMs = 100
const longestDelayMs = 10_000

/** So many that ended at once, one after the other, and the next one would as well. */
const permanentCount = 5

/** When a worker is to be replaced: at once, and later and later while that does not help. */
export class Restarts {
  #shortLives = 0
  #failures = 0

  /** It was able to start. */
  wentWell(): void {
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

  /** Whether the last ones could not even start. */
  get hasPermanentFailure(): boolean {
    return this.#failures > permanentCount
  }
}
