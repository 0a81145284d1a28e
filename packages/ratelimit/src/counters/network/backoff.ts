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
   * After a connection that lasted, the next attempt is made immediately. A short-lived connection counts
   * as a failure, however often it opens.
   */
  isDueAtOnce(lastedMs: number): boolean {
    if (lastedMs < firstMs) return false
    this.#failures = 0
    return true
  }

  nextMs(): number {
    return Math.min(lastMs, firstMs * 2 ** this.#failures++)
  }

  /** While calls are being refused, attempts are frequent enough to find a returning server within 250 ms. */
  mayHurry(): boolean {
    return performance.now() - this.#attemptedAtMs >= hurryMs
  }
}
