import {
  type Counted,
  CounterKeyError,
  type CounterStore,
  type Increment,
  type StoreError,
} from '../../counters/counter-store.ts'
import type { Breaker } from './breaker.ts'

export interface GuardSettings {
  /** Counts while the store does not answer. When undefined, calls fail. */
  readonly fallback: CounterStore | undefined
  readonly breaker: Breaker
}

type Method = 'add' | 'addSparing' | 'read'

/**
 * A store that may be unavailable. While it is known to be unavailable, calls fail immediately or are
 * counted by the fallback.
 */
export class GuardedStore implements CounterStore {
  readonly #inner: CounterStore
  readonly #settings: GuardSettings
  #outage: StoreError | undefined
  /** Whether the fallback counted the call that is being answered. */
  isFallback = false

  constructor(inner: CounterStore, settings: GuardSettings) {
    this.#inner = inner
    this.#settings = settings
  }

  /** From now on calls fail with this error, or use the fallback, until `markAvailable`. */
  markUnavailable(error: StoreError): void {
    this.#outage = error
    this.#settings.breaker.noteFailure(error)
  }

  markAvailable(): void {
    this.#outage = undefined
    this.#settings.breaker.noteAnswer()
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
    const { breaker } = this.#settings
    const refusal = this.#outage ?? breaker.refuse()
    if (refusal !== undefined) {
      this.#fallBack(method, increments, deadlineMs, refusal, counted)
      return
    }
    this.#inner[method](increments, deadlineMs, (error) => {
      if (error === undefined || error instanceof CounterKeyError) {
        breaker.noteAnswer()
        counted(error)
        return
      }
      breaker.noteFailure(error)
      this.#fallBack(method, increments, deadlineMs, error, counted)
    })
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
    // The fallback counts copies, because a late reply of the store may still change the originals.
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
}

function toCopy(increment: Increment): Increment {
  const { key, window, unitSeconds, hits, most, isStrict, overlapMs } = increment
  return { key, window, unitSeconds, hits, most, isStrict, overlapMs, after: 0, previous: 0 }
}
