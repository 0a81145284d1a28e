import type { DecisionParts } from '../../decide/decision.ts'
import { toTallies } from '../../decide/match.ts'
import type { Tallies } from '../../decide/tally.ts'
import type { Entry, RateLimitRequest } from '../../protocol/message.ts'
import type { RuleSnapshot } from '../../rules/match/snapshot.ts'

/** A request with the limits that apply to it. */
export interface MatchedRequest {
  readonly domain: string
  readonly tallies: Tallies
  /** By the index of the tally. */
  readonly keys: readonly (readonly string[])[]
  /** By the index of the tally: whether a rule applies. A missing index counts as matched. */
  readonly isMatched: readonly boolean[]
  /** The entries that no rule applies to. */
  readonly unmatched: readonly (readonly Entry[])[]
}

/** The parts of a request whose values all have a limit. */
export const everythingMatched: Pick<MatchedRequest, 'isMatched' | 'unmatched'> = {
  isMatched: [],
  unmatched: [],
}

/** How the hits of a call are counted. */
export interface Charging {
  readonly hits: number
  readonly isRefund: boolean
}

/** Finds the limits that apply to each descriptor of a request. */
export function matchRules(
  parts: DecisionParts,
  rules: RuleSnapshot,
  request: RateLimitRequest,
): MatchedRequest {
  const { domain, descriptors } = request
  const tallies = toTallies(parts, rules, request)
  const isMatched: boolean[] = []
  const unmatched: (readonly Entry[])[] = []
  for (const [index, { entries }] of descriptors.entries()) {
    const isKnown = tallies[index] !== undefined || rules.hasRule(domain, entries)
    isMatched.push(isKnown)
    // Without entries, all values were undefined: the caller omitted the descriptor.
    if (!isKnown && entries.length > 0) unmatched.push(entries)
  }
  const keys = descriptors.map(({ entries }) => entries.map(({ key }) => key))
  return { domain, tallies, keys, isMatched, unmatched }
}
