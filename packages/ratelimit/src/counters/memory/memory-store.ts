import type { EncodedKey } from '../../structures/key-bytes.ts'
import {
  type Counted,
  type CounterStore,
  type EncodedIncrement,
  type Increment,
  keyOf,
  StoreError,
} from '../counter-store.ts'
import { readThenAdd } from '../read-then-add.ts'
import { CounterTable, TableFullError } from './table.ts'

const sweepMs = 50
/** The share of the counters in one step: all of them take five seconds, or longer when many have expired. */
const sweepShare = 1 / 100
/** The maximum number of records in one step, which takes about a millisecond. */
const mostPerSweep = 8192

/** Settings of {@link openMemoryStore}. */
export interface MemoryStoreSettings {
  /** The wall clock in milliseconds. */
  readonly now?: () => number
  /** A monotonic clock in milliseconds, to detect jumps of the wall clock. */
  readonly elapsed?: () => number
  /** The maximum memory of all counters together, in bytes. Default: 1 GiB, about 8 million counters. */
  readonly maxBytes?: number
  /**
   * `evict` drops the counters with the fewest hits; `refuse` fails the call and loses no count. Default:
   * `evict`.
   */
  readonly whenFull?: 'evict' | 'refuse'
  /** Called soon after counters were dropped because the store was full. */
  readonly onEvicted?: () => void
  /** The name of the `maxBytes` setting in messages. Default: `maxBytes`. */
  readonly maxBytesName?: string
}

/** Counters in this process, made by {@link openMemoryStore}. */
export interface MemoryStore extends CounterStore {
  /** The number of counters, including expired ones that were not dropped yet. */
  readonly size: number
  /** The memory that the counters take, in bytes. */
  readonly bytes: number
  /** The number of counters that were dropped before their window ended, because the store was full. */
  readonly evicted: number
  /** Frees the counters. Calls fail from then on. */
  close(): Promise<void>
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Counts in this process: exactly, without sharing counters with other processes, and until the process
 * ends. Every call is answered before it returns, so deadlines never apply.
 *
 * A counter is dropped a few seconds after its window ends, a sliding one a window later. Memory that
 * is no longer needed is released. At `maxBytes`, new counters replace those with the fewest hits. A
 * counter that is too large even then is refused with a StoreError.
 */
export function openMemoryStore(settings: MemoryStoreSettings = {}): MemoryStore {
  return new OpenMemoryStore(settings)
}

/** Counters of fixed windows, for a caller that encodes their keys itself. */
export interface EncodedCounters {
  /**
   * Adds hits to one counter, and returns its count. Hot path.
   * @throws StoreError
   */
  addEncoded(key: EncodedKey, window: number, unitSeconds: number, hits: number): number
}

/** Like `openMemoryStore`, for callers inside this package. */
export function openEncodedCounters(settings: MemoryStoreSettings): MemoryStore & EncodedCounters {
  return new OpenMemoryStore(settings)
}

class OpenMemoryStore implements MemoryStore, EncodedCounters {
  readonly #maxBytes: number
  readonly #maxBytesName: string
  readonly #timer: NodeJS.Timeout
  #table: CounterTable | undefined

  constructor(settings: MemoryStoreSettings) {
    const { now = Date.now, maxBytes = 2 ** 30, whenFull = 'evict' } = settings
    // A clock that the caller supplies is trusted: there is no second clock to compare it with.
    const { elapsed = settings.now ?? (() => performance.now()) } = settings
    this.#maxBytes = maxBytes
    this.#maxBytesName = settings.maxBytesName ?? 'maxBytes'
    const nowSeconds = createSteadyClock(now, elapsed)
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
    // The two steps are atomic here, because both complete synchronously.
    readThenAdd(this, increments, deadlineMs, counted)
  }

  read(increments: readonly EncodedIncrement[], _deadlineMs: number, counted: Counted): void {
    const table = this.#table
    if (table === undefined) {
      counted(closedError())
      return
    }
    for (const increment of increments) {
      if (increment.overlapMs !== 0) table.slide(increment, 0)
      else increment.after = table.read(keyOf(increment), increment.window)
    }
    counted(undefined)
  }

  addEncoded(key: EncodedKey, window: number, unitSeconds: number, hits: number): number {
    if (this.#table === undefined) throw closedError()
    try {
      return this.#table.add(key, window, unitSeconds, hits)
    } catch (error) {
      throw this.#toStoreError(error)
    }
  }

  #add(increments: readonly EncodedIncrement[]): StoreError | undefined {
    const table = this.#table
    if (table === undefined) return closedError()
    try {
      for (const increment of increments) {
        const { window, unitSeconds, hits } = increment
        if (increment.overlapMs !== 0) table.slide(increment, hits)
        else increment.after = table.add(keyOf(increment), window, unitSeconds, hits)
      }
      return undefined
    } catch (error) {
      return this.#toStoreError(error)
    }
  }

  #toStoreError(error: unknown): StoreError {
    // A RangeError means that the system has no memory for another page.
    if (!(error instanceof TableFullError || error instanceof RangeError)) throw error
    return new StoreError(
      `the memory store is full: ${error.message}, and the maximum is ${this.#maxBytes} bytes; ` +
        `raise ${this.#maxBytesName}, count fewer distinct values, use shorter windows, or count in Redis`,
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
  return new StoreError('the memory store is closed')
}

/** How long a jump forward is doubted. */
const doubtMs = 60_000
/** How far the wall clock may run ahead between two readings before that counts as a jump. */
const gainMs = 1000

/**
 * The wall clock in seconds, except that a jump forward is accepted only after a minute. Otherwise a wrong
 * time that is soon corrected would end every window and lose the counters of a whole day.
 * A jump backward is accepted immediately, because it ends no window.
 * @param nowMs - the wall clock
 * @param elapsedMs - a monotonic clock
 */
export function createSteadyClock(nowMs: () => number, elapsedMs: () => number): () => number {
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
