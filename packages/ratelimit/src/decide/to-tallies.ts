import type { Descriptor, RateLimitRequest } from '../protocol/message.ts'
import type { Match } from '../rules/rule.ts'
import type { DecisionParts, Rules } from './decision.ts'
import { findReplaced } from './replaces.ts'
import { type Tallies, Tally } from './tally.ts'
import { toCounterKey } from './windows.ts'

/** What each descriptor of the request meets. Counts nothing but domains that nobody knows. */
export function toTallies(parts: DecisionParts, rules: Rules, request: RateLimitRequest): Tallies {
  const { descriptors, domain } = request
  const tallies: (Tally | undefined)[] = []
  if (!rules.hasDomain(domain)) {
    for (const _ of descriptors) tallies.push(undefined)
    parts.statistics.unknownDomain(domain).value += descriptors.length
    return tallies
  }
  const matches: (Match | undefined)[] = []
  for (const descriptor of descriptors) matches.push(rules.match(domain, descriptor))
  const replaced = findReplaced(matches)
  for (let i = 0; i < descriptors.length; i += 1) {
    const descriptor = descriptors[i]
    const match = matches[i]
    const isReplaced = match !== undefined && replaced?.has(match) === true
    tallies.push(
      match === undefined || descriptor === undefined || isReplaced
        ? undefined
        : toTally(parts, request, descriptor, match),
    )
  }
  return tallies
}

function toTally(
  { settings }: DecisionParts,
  { domain, hitsAddend }: RateLimitRequest,
  descriptor: Descriptor,
  { limit, counters, sharedValues }: Match,
): Tally {
  const { unit } = limit
  return new Tally({
    key:
      unit === undefined
        ? ''
        : toCounterKey(settings.cacheKeyPrefix, domain, descriptor, sharedValues),
    unitSeconds: limit.windowSeconds,
    unit: unit === undefined ? 0 : unit.wire,
    requestsPerUnit: limit.requestsPerUnit,
    name: limit.name,
    charge: descriptor.hitsAddend ?? Math.max(1, hitsAddend),
    isRefund: descriptor.isNegativeHits,
    isQuota: limit.quotaMode || settings.isQuotaMode,
    isShadowRule: limit.shadowMode,
    isSliding: limit.algorithm === 'sliding_window',
    counters,
    metadata: limit.metadata,
  })
}
