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
 * nothing. Looking and counting are two steps, so concurrent requests may both find room.
 */
export function spareOthers({ store, decision, toCount, deadlineMs, counted }: Sparing): void {
  if (decision.tallies.some((tally) => tally?.isKnownOver && canRefuse(tally))) {
    for (const tally of toCount) if (!tally.isRefund) tally.hits = 0
    store.add(toCount, deadlineMs, counted)
    return
  }
  store.read(toCount, deadlineMs, (error) => {
    if (error !== undefined) {
      counted(error)
      return
    }
    if (toCount.some(wouldRefuse)) {
      for (const tally of toCount) if (!tally.isRefund && !wouldRefuse(tally)) tally.hits = 0
    }
    store.add(toCount, deadlineMs, counted)
  })
}

function wouldRefuse(tally: Tally): boolean {
  return canRefuse(tally) && tally.after + tally.charge > tally.requestsPerUnit
}

function canRefuse({ isRefund, isQuota, isShadowRule }: Tally): boolean {
  return !isRefund && !isQuota && !isShadowRule
}
