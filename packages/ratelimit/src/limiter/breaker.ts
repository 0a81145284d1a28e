import { StoreError } from '../counters/counter-store.ts'

/** When a store that fails is not asked any more. */
export interface BreakerSettings {
  /** After how many failures in a row the store is not asked for a while. Default: 5. */
  readonly failures?: number | undefined
  /** How long it is not asked; then one call tries it. In milliseconds. Default: 1000. */
  readonly pauseMs?: number | undefined
}

export interface BreakerParts {
  /** Undefined: the store is always asked. */
  readonly settings: { readonly failures: number; readonly pauseMs: number } | undefined
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Called for the first failure after an answer. */
  readonly onOutage: (error: StoreError) => void
  /** Called for the first answer after a failure. */
  readonly onRecovery: () => void
}

/**
 * Knows whether a store answers. After some failures in a row it is not asked for a while: calls that wait for
 * their timeout one after the other would hold up every request.
 */
export class Breaker {
  readonly #parts: BreakerParts
  #failures = 0
  #isDown = false
  #asksAgainAtMs = 0

  constructor(parts: BreakerParts) {
    this.#parts = parts
  }

  /** Why the store is not to be asked; undefined where it is. */
  refuse(): StoreError | undefined {
    const { settings, elapsed } = this.#parts
    if (settings === undefined || this.#failures < settings.failures) return undefined
    const leftMs = this.#asksAgainAtMs - elapsed()
    if (leftMs > 0) {
      return new StoreError(
        `the store was not asked: ${this.#failures} calls in a row failed, and the next one is tried in ` +
          `${Math.ceil(leftMs)} ms`,
      )
    }
    // This call tries it; others wait for its outcome.
    this.#asksAgainAtMs = elapsed() + settings.pauseMs
    return undefined
  }

  noteFailure(error: StoreError): void {
    const { settings, elapsed, onOutage } = this.#parts
    this.#failures += 1
    if (settings !== undefined) this.#asksAgainAtMs = elapsed() + settings.pauseMs
    if (this.#isDown) return
    this.#isDown = true
    onOutage(error)
  }

  noteAnswer(): void {
    if (this.#failures === 0) return
    this.#failures = 0
    this.#isDown = false
    this.#parts.onRecovery()
  }
}
