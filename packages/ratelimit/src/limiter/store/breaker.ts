import type { Log } from '@portcullis/service-kit/log/log'
import { StoreError } from '../../counters/counter-store.ts'

/** When calls to a failing store are suspended. */
export interface BreakerSettings {
  /** The number of consecutive failures after which calls to the store are suspended. Default: 5. */
  readonly failures?: number | undefined
  /** How long calls are suspended, in milliseconds; then one call tries the store. Default: 1000. */
  readonly pauseMs?: number | undefined
}

export interface BreakerParts {
  /** The name of what is called, for messages. */
  readonly name: 'store' | 'service'
  /** When undefined, calls are never suspended. */
  readonly settings: { readonly failures: number; readonly pauseMs: number } | undefined
  /** A monotonic clock in milliseconds. */
  readonly elapsed: () => number
  /** Called for the first failure after a success. */
  readonly onOutage: (error: StoreError) => void
  /** Called for the first success after a failure. */
  readonly onRecovery: () => void
}

/**
 * A circuit breaker for a store or a service. After several consecutive failures, calls are suspended: otherwise
 * every request would wait for its timeout.
 */
export class Breaker {
  readonly #parts: BreakerParts
  #failures = 0
  #isDown = false
  #retriesAtMs = 0

  constructor(parts: BreakerParts) {
    this.#parts = parts
  }

  /** Returns why no call may be made now; undefined if one may be made. */
  refuse(): StoreError | undefined {
    const { name, settings, elapsed } = this.#parts
    if (settings === undefined || this.#failures < settings.failures) return undefined
    const leftMs = this.#retriesAtMs - elapsed()
    if (leftMs > 0) {
      const calls = this.#failures === 1 ? 'last call' : `last ${this.#failures} calls`
      return new StoreError(
        `the ${name} was not called: the ${calls} failed, and the next attempt is made in ${Math.ceil(leftMs)} ms`,
      )
    }
    // This call is the next attempt; the others are suspended until its result is known.
    this.#retriesAtMs = elapsed() + settings.pauseMs
    return undefined
  }

  noteFailure(error: StoreError): void {
    const { settings, elapsed, onOutage } = this.#parts
    this.#failures += 1
    if (settings !== undefined) this.#retriesAtMs = elapsed() + settings.pauseMs
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

/** The options of a limiter that concern outages. */
export interface OutageOptions {
  readonly breaker?: BreakerSettings | false | undefined
  readonly onOutage?: ((error: Error) => void) | undefined
  readonly onRecovery?: (() => void) | undefined
}

/** The minimum interval between warnings: a store that fails every second call would fill the log. */
const logPauseMs = 60_000

/** What the log says about an outage. */
export interface OutageTexts {
  /** What is unavailable. */
  readonly name: BreakerParts['name']
  /** The effect of the outage. */
  readonly consequence: string
}

/** Creates a breaker from the options of a limiter. It logs outages. */
export function createBreaker(
  options: OutageOptions,
  log: Log,
  { name, consequence }: OutageTexts,
): Breaker {
  const { breaker = {}, onOutage, onRecovery } = options
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let isLogged = false
  return new Breaker({
    name,
    settings:
      breaker === false
        ? undefined
        : { failures: breaker.failures ?? 5, pauseMs: breaker.pauseMs ?? 1_000 },
    elapsed: () => performance.now(),
    onOutage(error) {
      onOutage?.(error)
      if (performance.now() < loggedAtMs + logPauseMs) return
      loggedAtMs = performance.now()
      isLogged = true
      log.warning(`The rate limit ${name} failed: ${error.message}; ${consequence}`)
    },
    onRecovery() {
      onRecovery?.()
      if (!isLogged) return
      isLogged = false
      log.warning(`The rate limit ${name} answers again`)
    },
  })
}
