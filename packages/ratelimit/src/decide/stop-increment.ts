import type { Counted, CounterStore } from '../counters/counter-store.ts'
import type { Decision } from './decision.ts'
import type { Tally } from './tally.ts'

export interface Sparing {
  readonly store: CounterStore
  readonly decision: Decision
  readonly toCount: readonly Tally[]
  readonly deadlineMs: number
  readonly counted: Counted
}

/**
 * STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: where one limit refuses the request, the counters of the
 * others stay as they are. Rules that cannot refuse by themselves, in shadow or quota mode, stop
 * nothing (5.12).
 */
export function spareOthers({ store, decision, toCount, deadlineMs, counted }: Sparing): void {
  if (!decision.tallies.some((tally) => tally?.isKnownOver && tally.isStrict)) {
    store.addSparing(toCount, deadlineMs, counted)
    return
  }
  for (const tally of toCount) if (!tally.isRefund) tally.hits = 0
  store.add(toCount, deadlineMs, counted)
}
