import { type Counted, type CounterStore, type Increment, StoreError } from '../counter-store.ts'
import { lookThenAdd } from '../look-then-add.ts'
import { CounterTable, TableFullError } from './table.ts'

const sweepMs = 50
/** A round through all counters takes five seconds, or longer when too many of them are over. */
const sweepShare = 1 / 100
/** What can be looked at and dropped in about a millisecond. */
const mostPerSweep = 8192

/** Settings of {@link openMemoryStore}. */
export interface MemoryStoreSettings {
  /** The wall clock in milliseconds. */
  readonly now?: () => number
  /** A clock in milliseconds that is never set, to tell a leap of the wall clock. */
  readonly elapsed?: () => number
  /** What all counters may take. Default: 1 GiB, about 8 million counters. */
  readonly maxBytes?: number
  /** Default: drop the counters with the fewest hits. `refuse` fails the call, and loses no count. */
  readonly whenFull?: 'evict' | 'refuse'
  /** Called soon after counters were dropped for want of room. */
  readonly onEvicted?: () => void
  /** How messages name the setting of `maxBytes`. Default: that name. */
  readonly maxBytesName?: string
}

/** Counters in this process, made by {@link openMemoryStore}. */
export interface MemoryStore extends CounterStore {
  /** Counters, with those whose window is over and that were not dropped yet. */
  readonly size: number
  /** How much memory the counters take. */
  readonly bytes: number
  /** Counters that were dropped before their window was over, because there was no room. */
  readonly evicted: number
  /** Frees the counters. Calls fail from then on. */
  close(): Promise<void>
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Counts in this process: exact, gone when it ends, not shared with others. Every call is answered
 * before it returns, so that no deadline can matter.
 *
 * A counter is dropped some seconds after its window is over, a sliding one a window later. Memory
 * that counters do not need is given back. At `maxBytes` new counters take the place of those with
 * the fewest hits. One too large for the room of those is refused with a StoreError.
 */
export function openMemoryStore(settings: MemoryStoreSettings = {}): MemoryStore {
  return new OpenMemoryStore(settings)
}

class OpenMemoryStore implements MemoryStore {
  readonly #maxBytes: number
  readonly #maxBytesName: string
  readonly #timer: NodeJS.Timeout
  #table: CounterTable | undefined

  constructor(settings: MemoryStoreSettings) {
    const { now = Date.now, maxBytes = 2 ** 30, whenFull = 'evict' } = settings
    // A wall clock of the caller's own has no second clock beside it that could doubt it.
    const { elapsed = settings.now ?? (() => performance.now()) } = settings
    this.#maxBytes = maxBytes
    this.#maxBytesName = settings.maxBytesName ?? 'maxBytes'
    const nowSeconds = createPatientClock(now, elapsed)
    const table = new CounterTable({ nowSeconds, maxBytes, evicts: whenFull === 'evict' })
    this.#table = table
    let evicted = 0
    this.#timer = setInterval(() => {
      if (table.evicted > evicted) settings.onEvicted?.()
      evicted = table.evicted
      if (table.size > 0) table.sweep(sweepShare, mostPerSweep)
    }, sweepMs).unref()
  }

  get size(): number {
    return this.#table?.size ?? 0
  }

  get bytes(): number {
    return this.#table?.bytes ?? 0
  }

  get evicted(): number {
    return this.#table?.evicted ?? 0
  }

  add(increments: readonly Increment[], _deadlineMs: number, counted: Counted): void {
    counted(this.#add(increments))
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    // Two steps that nobody comes between, because both are made before they return.
    lookThenAdd(this, increments, deadlineMs, counted)
  }

  read(increments: readonly Increment[], _deadlineMs: number, counted: Counted): void {
    const table = this.#table
    if (table === undefined) {
      counted(closedError())
      return
    }
    for (const increment of increments) {
      if (increment.overlapMs !== 0) table.slide(increment, 0)
      else increment.after = table.read(increment.key, increment.window)
    }
    counted(undefined)
  }

  #add(increments: readonly Increment[]): StoreError | undefined {
    const table = this.#table
    if (table === undefined) return closedError()
    try {
      for (const increment of increments) {
        const { key, window, unitSeconds, hits } = increment
        if (increment.overlapMs !== 0) table.slide(increment, hits)
        else increment.after = table.add(key, window, unitSeconds, hits)
      }
      return undefined
    } catch (error) {
      return this.#toStoreError(error)
    }
  }

  #toStoreError(error: unknown): StoreError {
    // A RangeError is the system's: it has no memory for another page.
    if (!(error instanceof TableFullError || error instanceof RangeError)) throw error
    return new StoreError(
      `the memory store is full: ${error.message}, and it may take ${this.#maxBytes} bytes; ` +
        `allow it more (${this.#maxBytesName}), count fewer different values or shorter windows, or use Redis`,
      { cause: error },
    )
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#table?.free()
    this.#table = undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function closedError(): StoreError {
  return new StoreError('the memory store was closed')
}

const doubtMs = 60_000
/** What a clock may gain between two looks without being doubted. */
const gainMs = 1000

/**
 * The wall clock in seconds, except that a leap ahead is believed only after a minute. A false time
 * that is soon corrected would otherwise end every window, and with them a day's counters.
 * A step back is believed at once: it ends nothing.
 * @param nowMs the wall clock
 * @param elapsedMs a clock that is never set
 */
export function createPatientClock(nowMs: () => number, elapsedMs: () => number): () => number {
  let difference = nowMs() - elapsedMs()
  let doubtedSince = Number.POSITIVE_INFINITY
  return () => {
    const elapsed = elapsedMs()
    const now = nowMs()
    if (now - elapsed - difference > gainMs) {
      doubtedSince = Math.min(doubtedSince, elapsed)
      if (elapsed - doubtedSince < doubtMs) return (elapsed + difference) / 1000
    }
    doubtedSince = Number.POSITIVE_INFINITY
    difference = now - elapsed
    return now / 1000
  }
}
