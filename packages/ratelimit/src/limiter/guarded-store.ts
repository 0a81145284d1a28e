import {
  type Counted,
  CounterKeyError,
  type CounterStore,
  type Increment,
  StoreError,
} from '../counters/counter-store.ts'

/** When a store that fails is not asked any more. */
export interface BreakerSettings {
  /** After how many failures in a row the store is not asked for a while. Default: 5. */
  readonly failures?: number | undefined
  /** How long it is not asked; then one call tries it. In milliseconds. Default: 1000. */
  readonly pauseMs?: number | undefined
}

export interface GuardSettings {
  /** Counts while the store does not answer; undefined: calls fail. */
  readonly fallback: CounterStore | undefined
  /** Undefined: the store is always asked. */
  readonly breaker: Required<{ [Name in keyof BreakerSettings]: number }> | undefined
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Called for the first failure after an answer. */
  readonly onOutage: (error: StoreError) => void
  /** Called for the first answer after a failure. */
  readonly onRecovery: () => void
}

type Method = 'add' | 'addSparing' | 'read'

/**
 * A store that may not answer. Calls fail at once while it is known to be away, or are counted by the
 * fallback. After some failures in a row it is not asked for a while: calls that wait for their timeout one
 * after the other would hold up every request.
 */
export class GuardedStore implements CounterStore {
  readonly #inner: CounterStore
  readonly #settings: GuardSettings
  #away: StoreError | undefined
  #failures = 0
  #isDown = false
  #asksAgainAtMs = 0
  /** Whether the call that is being answered was counted by the fallback. */
  isFallback = false

  constructor(inner: CounterStore, settings: GuardSettings) {
    this.#inner = inner
    this.#settings = settings
  }

  /** The store is known to be away: calls fail with this until `markPresent`. */
  markAway(error: StoreError): void {
    this.#away = error
    this.#noteFailure(error)
  }

  markPresent(): void {
    this.#away = undefined
    this.#noteAnswer()
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#call('add', increments, deadlineMs, counted)
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#call('addSparing', increments, deadlineMs, counted)
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#call('read', increments, deadlineMs, counted)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]()
  }

  #call(
    method: Method,
    increments: readonly Increment[],
    deadlineMs: number,
    counted: Counted,
  ): void {
    const refusal = this.#away ?? this.#findRefusal()
    if (refusal !== undefined) {
      this.#fallBack(method, increments, deadlineMs, refusal, counted)
      return
    }
    this.#inner[method](increments, deadlineMs, (error) => {
      if (error === undefined || error instanceof CounterKeyError) {
        if (this.#failures > 0) this.#noteAnswer()
        counted(error)
        return
      }
      this.#noteFailure(error)
      this.#fallBack(method, increments, deadlineMs, error, counted)
    })
  }

  #findRefusal(): StoreError | undefined {
    const { breaker, elapsed } = this.#settings
    if (breaker === undefined || this.#failures < breaker.failures) return undefined
    const leftMs = this.#asksAgainAtMs - elapsed()
    if (leftMs > 0) {
      return new StoreError(
        `the store was not asked: ${this.#failures} calls in a row failed, and the next one is tried in ` +
          `${Math.ceil(leftMs)} ms`,
      )
    }
    // This call tries it; others wait for its outcome.
    this.#asksAgainAtMs = elapsed() + breaker.pauseMs
    return undefined
  }

  #fallBack(
    method: Method,
    increments: readonly Increment[],
    deadlineMs: number,
    error: StoreError,
    counted: Counted,
  ): void {
    const { fallback } = this.#settings
    if (fallback === undefined) {
      counted(error)
      return
    }
    // A late answer of the store must not meet them: they are counted as copies.
    const copies = increments.map(toCopy)
    fallback[method](copies, deadlineMs, (failure) => {
      for (const [index, copy] of copies.entries()) {
        const increment = increments[index]
        if (increment === undefined) continue
        increment.after = copy.after
        increment.previous = copy.previous
      }
      this.isFallback = true
      try {
        counted(failure)
      } finally {
        this.isFallback = false
      }
    })
  }

  #noteFailure(error: StoreError): void {
    const { breaker, elapsed, onOutage } = this.#settings
    this.#failures += 1
    if (breaker !== undefined) this.#asksAgainAtMs = elapsed() + breaker.pauseMs
    if (this.#isDown) return
    this.#isDown = true
    onOutage(error)
  }

  #noteAnswer(): void {
    this.#failures = 0
    if (!this.#isDown) return
    this.#isDown = false
    this.#settings.onRecovery()
  }
}

function toCopy(increment: Increment): Increment {
  const { key, window, unitSeconds, hits, most, isStrict, overlapMs } = increment
  return { key, window, unitSeconds, hits, most, isStrict, overlapMs, after: 0, previous: 0 }
}
