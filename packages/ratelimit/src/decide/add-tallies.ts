import { addInSlices } from '../counters/add-in-slices.ts'
import type { Counted } from '../counters/counter-store.ts'
import type { DecisionParts } from './decision.ts'
import { sliceLength } from './slice-length.ts'
import { spareOthers } from './stop-increment.ts'
import type { Tallies, Tally } from './tally.ts'

/** Asks the store to count those of the tallies that need it. */
export function addTallies(
  { settings, store }: DecisionParts,
  tallies: Tallies,
  toCount: readonly Tally[],
  deadlineMs: number,
  counted: Counted,
): void {
  if (settings.stopsIncrementWhenOver) {
    spareOthers({ store, tallies, toCount, deadlineMs, counted })
  } else if (toCount.length > sliceLength) {
    addInSlices(store, toCount, sliceLength, deadlineMs, counted)
  } else {
    store.add(toCount, deadlineMs, counted)
  }
}
