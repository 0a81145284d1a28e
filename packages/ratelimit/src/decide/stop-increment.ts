import type { Counted, CounterStore } from '../counters/counter-store.ts'
import type { Tallies, Tally } from './tally.ts'

export interface Sparing {
  readonly store: CounterStore
  /** All of the request, with those that the store is not asked about. */
  readonly tallies: Tallies
  readonly toCount: readonly Tally[]
  readonly deadlineMs: number
  readonly counted: Counted
}

/**
 * STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: where one limit refuses the request, the counters of the
 * others stay as they are. Rules that cannot refuse by themselves, in shadow or quota mode, stop
 * nothing (5.12).
 */
export function spareOthers({ store, tallies, toCount, deadlineMs, counted }: Sparing): void {
  if (!tallies.some((tally) => tally?.isKnownOver && tally.isStrict)) {
    store.addSparing(toCount, deadlineMs, counted)
    return
  }
  for (const tally of toCount) if (!tally.isRefund) tally.hits = 0
  store.add(toCount, deadlineMs, counted)
}
