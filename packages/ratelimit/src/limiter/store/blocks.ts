import {
  type Counted,
  type CounterStore,
  highestCount,
  type Increment,
} from '../../counters/counter-store.ts'
import type { Tallies, Tally } from '../../decide/tally.ts'

/** With more blocks than this, adding another one drops those that have ended. */
const mostKept = 10_000
/** A record is kept this long after its block has ended, so that a prolonged block does not end early. */
const keptSeconds = 86_400

export interface BlockSettings {
  readonly store: CounterStore
  /** Whether blocks are also kept in the store, for other processes. */
  readonly isShared: boolean
}

/** The blocked counters, each with the time at which its block ends, in Unix milliseconds. */
export type BlockedUntil = ReadonlyMap<Tally, number>

/**
 * Blocked counters. This process remembers those that it has blocked or found in the store. In a store, the
 * record of a block is a counter whose count is the Unix second at which the block ends, so every store
 * supports it.
 */
export class Blocks {
  readonly #settings: BlockSettings
  readonly #untilMs = new Map<string, number>()

  constructor(settings: BlockSettings) {
    this.#settings = settings
  }

  get isShared(): boolean {
    return this.#settings.isShared
  }

  /** Whether this process knows that no counter is blocked. */
  get isEmpty(): boolean {
    return this.#untilMs.size === 0
  }

  /** Returns the counters that this process knows to be blocked; undefined if there are none. Hot path. */
  find(tallies: Tallies, nowMs: number): BlockedUntil | undefined {
    if (this.isEmpty) return undefined
    let found: Map<Tally, number> | undefined
    for (const tally of tallies) {
      const untilMs = tally === undefined ? undefined : this.#untilMs.get(tally.key)
      if (tally === undefined || untilMs === undefined) continue
      if (untilMs > nowMs) {
        found ??= new Map()
        found.set(tally, untilMs)
      } else {
        this.#untilMs.delete(tally.key)
      }
    }
    return found
  }

  /** Looks up the blocks in the store, so that `find` returns them. */
  lookUp(tallies: readonly Tally[], deadlineMs: number, counted: Counted): void {
    const records = tallies.map(({ key }) => toRecord(toRecordKey(key), 0, 1))
    this.#settings.store.read(records, deadlineMs, (error) => {
      for (const [index, { after }] of records.entries()) {
        const key = tallies[index]?.key
        if (error === undefined && key !== undefined && after > 0) this.#remember(key, after * 1000)
      }
      counted(error)
    })
  }

  block(tallies: readonly Tally[], untilMs: number, nowMs: number, counted: Counted): void {
    for (const { key } of tallies) this.#remember(key, untilMs)
    if (this.#untilMs.size > mostKept) this.#dropEnded(nowMs)
    if (!this.#settings.isShared) {
      counted(undefined)
      return
    }
    const { store } = this.#settings
    const untilSeconds = Math.ceil(untilMs / 1000)
    const records = tallies.map(({ key }) => toRecord(toRecordKey(key), 0, 1))
    store.read(records, Number.POSITIVE_INFINITY, (error) => {
      if (error !== undefined) {
        counted(error)
        return
      }
      const nowSeconds = Math.floor(nowMs / 1000)
      // The last term makes the lifetime differ from that of an earlier block of the same counter: the Redis
      // store renews the TTL of a counter that it knows only if the lifetime differs.
      const lifeSeconds = untilSeconds - nowSeconds + keptSeconds + (nowSeconds % 1000)
      const added = records
        .map(({ key, after }) => toRecord(key, untilSeconds - after, lifeSeconds))
        .filter(({ hits }) => hits > 0)
      store.add(added, Number.POSITIVE_INFINITY, counted)
    })
  }

  unblock(tallies: readonly Tally[], counted: Counted): void {
    for (const { key } of tallies) this.#untilMs.delete(key)
    if (!this.#settings.isShared) {
      counted(undefined)
      return
    }
    const records = tallies.map(({ key }) => toRecord(toRecordKey(key), -highestCount, 1))
    this.#settings.store.add(records, Number.POSITIVE_INFINITY, counted)
  }

  #remember(key: string, untilMs: number): void {
    this.#untilMs.set(key, Math.max(untilMs, this.#untilMs.get(key) ?? 0))
  }

  #dropEnded(nowMs: number): void {
    for (const [key, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(key)
  }
}

function toRecordKey(key: string): string {
  return `${key}blocked_`
}

function toRecord(key: string, hits: number, unitSeconds: number): Increment {
  const most = highestCount
  return {
    key,
    window: 0,
    unitSeconds,
    hits,
    most,
    isStrict: false,
    overlapMs: 0,
    after: 0,
    previous: 0,
  }
}
