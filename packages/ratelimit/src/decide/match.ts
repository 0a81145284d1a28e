import { highestCount } from '../counters/counter-store.ts'
import type { Descriptor, RateLimitRequest } from '../protocol/message.ts'
import type { Match } from '../rules/model/rule.ts'
import { toCounterKey } from './counter-key.ts'
import type { DecisionParts, Rules } from './decision.ts'
import { type Tallies, Tally } from './tally.ts'

/** Matches each descriptor of the request with its rule. Updates only the statistics of unknown domains. */
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
    tallies.push(toTallyUnless(replaced, parts, request, descriptors[i], matches[i]))
  }
  return tallies
}

/** Like `toTallies`, in slices of several descriptors, between which other work can run. */
export function* toTalliesInSlices(
  parts: DecisionParts,
  rules: Rules,
  request: RateLimitRequest,
  sliceLength: number,
): Generator<void, Tallies, void> {
  const { descriptors, domain } = request
  if (!rules.hasDomain(domain)) return toTallies(parts, rules, request)
  const matches: (Match | undefined)[] = []
  for (const [i, descriptor] of descriptors.entries()) {
    if (i > 0 && i % sliceLength === 0) yield
    matches.push(rules.match(domain, descriptor))
  }
  const replaced = findReplaced(matches)
  const tallies: (Tally | undefined)[] = []
  for (const [i, descriptor] of descriptors.entries()) {
    if (i % sliceLength === 0) yield
    tallies.push(toTallyUnless(replaced, parts, request, descriptor, matches[i]))
  }
  return tallies
}

function toTallyUnless(
  replaced: ReadonlySet<Match> | undefined,
  parts: DecisionParts,
  request: RateLimitRequest,
  descriptor: Descriptor | undefined,
  match: Match | undefined,
): Tally | undefined {
  if (match === undefined || descriptor === undefined || replaced?.has(match)) return undefined
  return toTally(parts, request, descriptor, match)
}

/** The size of a refund is not limited; hits are limited to the highest count of a store. */
function toCharge({ hitsAddend, isNegativeHits }: Descriptor, ofRequest: number): number {
  const charge = hitsAddend ?? Math.max(1, ofRequest)
  return isNegativeHits ? charge : Math.min(charge, highestCount)
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
        : toCounterKey(settings, domain, descriptor, {
            windowSeconds: limit.windowSeconds,
            sharedValues,
          }),
    unitSeconds: limit.windowSeconds,
    unit: unit === undefined ? 0 : unit.wire,
    requestsPerUnit: limit.requestsPerUnit,
    name: limit.name,
    charge: toCharge(descriptor, hitsAddend),
    isRefund: descriptor.isNegativeHits,
    isQuota: limit.quotaMode || settings.isQuotaMode,
    isShadowRule: limit.shadowMode,
    isSliding: limit.algorithm === 'sliding_window',
    counters,
    metadata: limit.metadata,
  })
}

type Matches = readonly (Match | undefined)[]

/**
 * Finds the matches that another limit of the same request names in its `replaces`; undefined if there are
 * none. A replaced limit still replaces others. An unlimited rule also replaces others, but is never
 * replaced.
 */
export function findReplaced(matches: Matches): ReadonlySet<Match> | undefined {
  if (!matches.some(hasReplaces)) return undefined
  const names = new Set(matches.flatMap((match) => match?.limit.replaces ?? []))
  const replaced = new Set<Match>()
  for (const match of matches) {
    if (match === undefined) continue
    const { name, unlimited } = match.limit
    if (name !== '' && !unlimited && names.has(name)) replaced.add(match)
  }
  return replaced
}

function hasReplaces(match: Match | undefined): boolean {
  return match !== undefined && match.limit.replaces.length > 0
}
