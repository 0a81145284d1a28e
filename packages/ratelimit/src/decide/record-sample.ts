import type { SampledRequest, TrafficSample } from './decision.ts'
import type { Tallies } from './tally.ts'
import { hitsOver } from './verdict.ts'

/** If a request has more descriptors, a random selection of them stands for the others. */
const mostRecorded = 64

/**
 * Adds the descriptors of a sampled request, after it was answered. Refunds and reads add no hits, and an unlimited
 * rule has no counter, so they are not recorded.
 */
export function recordSample(
  traffic: TrafficSample,
  { request, weight }: SampledRequest,
  tallies: Tallies,
  nowMs: number,
): void {
  const { domain, descriptors } = request
  const step = Math.ceil(tallies.length / mostRecorded)
  const first = step <= 1 ? 0 : Math.floor(Math.random() * step)
  for (let i = first; i < tallies.length; i += step) {
    const tally = tallies[i]
    const descriptor = descriptors[i]
    if (tally === undefined || descriptor === undefined) continue
    if (tally.isUnlimited || tally.isRefund || tally.charge === 0) continue
    const factor = weight * step
    const { key, charge } = tally
    traffic.record(key, domain, descriptor, charge * factor, hitsOver(tally) * factor, nowMs)
  }
}
