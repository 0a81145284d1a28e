import {
  type Counted,
  highestCount,
  type Increment,
  keyOf,
  type StoreError,
} from '../counters/counter-store.ts'
import { RuleCounters } from '../stats/rule-counters.ts'
import { openTallies } from './count.ts'
import type { DecisionParts } from './decision.ts'
import { type Tallies, Tally } from './tally.ts'
import { toOverlapMs, windowStart } from './windows.ts'

/** Copies of tallies after the store was read. */
export interface ReadTallies {
  /** Each count includes the hits of its tally, as if they had been counted. */
  readonly tallies: Tallies
  readonly nowSeconds: number
}

type ReadDone = (error: StoreError | undefined, read: ReadTallies | undefined) => void

/** Reads the counters of tallies. Changes neither the counters nor the statistics nor the local cache. */
export function readTallies(
  parts: DecisionParts,
  given: Tallies,
  deadlineMs: number,
  done: ReadDone,
): void {
  const nowMs = parts.now()
  const nowSeconds = Math.floor(nowMs / 1000)
  // Separate statistics and no cache, so that a read changes neither.
  const scratch = new RuleCounters()
  const tallies = given.map(
    (tally) => tally && new Tally({ ...tally, key: tally.key, counters: scratch }),
  )
  const toRead = openTallies({ ...parts, localCache: undefined }, tallies, nowMs, nowSeconds)
  parts.store.read(toRead, deadlineMs, (error) => {
    if (error !== undefined) {
      done(error, undefined)
      return
    }
    for (const tally of toRead) tally.after += tally.charge
    done(undefined, { tallies, nowSeconds })
  })
}

/** Sets the counters of tallies to 0, none of which may be unlimited. */
export function resetTallies(
  { now, store, localCache }: DecisionParts,
  tallies: readonly Tally[],
  deadlineMs: number,
  counted: Counted,
): void {
  const nowMs = now()
  const nowSeconds = Math.floor(nowMs / 1000)
  const windowOf = ({ unitSeconds }: Tally) => windowStart(nowSeconds, unitSeconds)
  const increments = tallies.flatMap((tally) => {
    const window = windowOf(tally)
    // Large enough for any count; a counter never goes below 0.
    if (!tally.isSliding) return [toIncrement(tally, window, -highestCount)]
    tally.overlapMs = toOverlapMs(nowMs, window, tally.unitSeconds)
    const before = window - tally.unitSeconds
    return [window, before].map((each) => toIncrement(tally, each, -highestCount))
  })
  store.add(increments, deadlineMs, (error) => {
    // After the store: a decision in the meantime may have cached the old count.
    for (const tally of tallies) localCache?.delete(keyOf(tally), windowOf(tally))
    counted(error)
  })
}

/** A change of the counter of a tally in some window, whatever its limit is. */
export function toIncrement(tally: Tally, window: number, hits: number): Increment {
  const { key, unitSeconds, overlapMs } = tally
  const most = highestCount
  return { key, window, unitSeconds, hits, most, isStrict: false, overlapMs, after: 0, previous: 0 }
}
