const firstMs = 125
const lastMs = 4_000
const hurryMs = 250

/** When to connect again: after 125 ms, doubling to 4 s. */
export class Backoff {
  #failures = 0
  #attemptedAtMs = Number.NEGATIVE_INFINITY

  noteAttempt(): void {
    this.#attemptedAtMs = performance.now()
  }

  /**
   * A connection that lasted deserves an attempt at once. One that did not is a failure however often
   * it opens.
   */
  isDueAtOnce(lastedMs: number): boolean {
    if (lastedMs < firstMs) return false
    this.#failures = 0
    return true
  }

  nextMs(): number {
    return Math.min(lastMs, firstMs * 2 ** this.#failures++)
  }

  /** While calls are being refused, a server that is back is found within a quarter of a second. */
  mayHurry(): boolean {
    return performance.now() - this.#attemptedAtMs >= hurryMs
  }
}
