import {
  type Counted,
  type CounterStore,
  highestCount,
  type Increment,
  StoreError,
} from '../../src/counters/counter-store.ts'
import { toShare } from '../../src/counters/sliding-window.ts'

/** The operations of a client library; each module in `peers/` adapts one. */
export interface MemcachedLibrary {
  /** Calls back with the count of each counter, undefined for a missing one, or with an `Error`. */
  get(names: readonly string[], found: (counts: Counts | Error) => void): void
  /** Adds or subtracts. Commands reach the server in the order of `get` and `change` calls. */
  change(name: string, hits: number, expires: number, isMissing: boolean, changed: () => void): void
  close(): Promise<void>
}

type Counts = readonly (number | undefined)[]

/** A counter store with a client library, with the same steps as `memcached-store.ts`. */
export function createMemcachedLibraryStore(library: MemcachedLibrary): CounterStore {
  return new MemcachedLibraryStore(library)
}

interface NamedCounter {
  readonly name: string
  count: number
  isMissing: boolean
}

interface Target {
  readonly increment: Increment
  readonly counter: NamedCounter
  readonly previous: NamedCounter | undefined
}

class MemcachedLibraryStore implements CounterStore {
  readonly #library: MemcachedLibrary
  readonly #idle = Promise.withResolvers<void>()
  #pending = 0
  #isClosed = false

  constructor(library: MemcachedLibrary) {
    this.#library = library
  }

  add(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#read(increments, deadlineMs, counted, (targets) => {
      for (const target of targets) {
        const { hits, most, overlapMs } = target.increment
        const withHits = toPresentCount(target) + hits
        const isFull = overlapMs > 0 && hits > 0 && withHits > most
        if (!isFull) this.#change(target)
        report(target, isFull ? withHits : toPresentCount(target))
      }
    })
  }

  addSparing(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.add(increments, deadlineMs, counted)
  }

  read(increments: readonly Increment[], deadlineMs: number, counted: Counted): void {
    this.#read(increments, deadlineMs, counted, (targets) => {
      for (const target of targets) report(target, toPresentCount(target))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const wasClosed = this.#isClosed
    this.#isClosed = true
    if (this.#pending === 0) this.#idle.resolve()
    await this.#idle.promise
    if (!wasClosed) await this.#library.close()
  }

  #read(
    increments: readonly Increment[],
    deadlineMs: number,
    counted: Counted,
    use: (targets: readonly Target[]) => void,
  ): void {
    if (this.#isClosed || deadlineMs <= Date.now()) {
      counted(new StoreError(this.#isClosed ? 'the store is closed' : 'the deadline is over'))
      return
    }
    const counters = new Map<string, NamedCounter>()
    const targets = increments.map((increment) => toTarget(increment, counters))
    if (targets.length === 0) {
      counted(undefined)
      return
    }
    this.#pending++
    this.#library.get([...counters.keys()], (counts) => {
      const isFailed = counts instanceof Error
      if (!isFailed) {
        let at = 0
        for (const counter of counters.values()) {
          const count = counts[at++]
          counter.isMissing = count === undefined
          counter.count = count ?? 0
        }
        use(targets)
      }
      this.#settle()
      counted(isFailed ? new StoreError(counts.message) : undefined)
    })
  }

  #change({ increment, counter }: Target): void {
    const { hits, unitSeconds, overlapMs } = increment
    if (hits === 0) return
    if (hits > 0 && counter.count + hits > highestCount) {
      counter.count = highestCount
      return
    }
    counter.count = Math.max(0, counter.count + hits)
    const lifeSeconds = overlapMs > 0 ? 2 * unitSeconds : unitSeconds
    const expires = lifeSeconds + 1 + Math.floor(Math.random() * 299)
    this.#pending++
    this.#library.change(counter.name, hits, expires, counter.isMissing, this.#settle)
    if (hits > 0) counter.isMissing = false
  }

  readonly #settle = (): void => {
    this.#pending--
    if (this.#isClosed && this.#pending === 0) this.#idle.resolve()
  }
}

function toTarget(increment: Increment, counters: Map<string, NamedCounter>): Target {
  const { key, window, unitSeconds, overlapMs } = increment
  const find = (name: string): NamedCounter => {
    const found = counters.get(name) ?? { name, count: 0, isMissing: false }
    counters.set(name, found)
    return found
  }
  if (overlapMs === 0) return { increment, counter: find(`${key}${window}`), previous: undefined }
  const counter = find(`${key}${unitSeconds}s@${window}`)
  const previous = find(`${key}${unitSeconds}s@${window - unitSeconds}`)
  return { increment, counter, previous }
}

function toPresentCount({ increment, counter, previous }: Target): number {
  if (previous === undefined) return counter.count
  return counter.count + toShare(previous.count, increment.overlapMs, increment.unitSeconds)
}

function report({ increment, previous }: Target, after: number): void {
  increment.after = after
  if (previous !== undefined) increment.previous = previous.count
}
