import { toCountText } from '../text/format.ts'

const defaults = { mostLines: 1, windowMs: 1_000 }

/**
 * Limits how often a failure is logged, for failures that callers or a lost server can cause at any
 * rate. The next line says how many lines were left out.
 */
export class FailureLog {
  readonly #write: (message: string) => void
  readonly #settings: typeof defaults
  #windowEndsMs = Number.NEGATIVE_INFINITY
  #written = 0
  #leftOut = 0

  /** Default: one line a second. */
  constructor(write: (message: string) => void, settings: Partial<typeof defaults> = {}) {
    this.#write = write
    this.#settings = { ...defaults, ...settings }
  }

  report(toMessage: () => string): void {
    const nowMs = performance.now()
    if (nowMs >= this.#windowEndsMs) {
      this.#windowEndsMs = nowMs + this.#settings.windowMs
      this.#written = 0
    }
    if (this.#written === this.#settings.mostLines) {
      this.#leftOut += 1
      return
    }
    const leftOut =
      this.#leftOut === 0 ? '' : ` (${toCountText(this.#leftOut, 'similar line')} left out)`
    this.#written += 1
    this.#leftOut = 0
    this.#write(`${toMessage()}${leftOut}`)
  }
}
