import { type DecisionParts, ServiceError } from '../../decide/decision.ts'
import { compileRules, type RuleSnapshot } from '../../rules/match/snapshot.ts'
import type { RuleSource } from '../../rules/sources/source.ts'
import type { Statistics } from '../../stats/registry.ts'
import { type LimitRequest, toRateLimitRequest } from '../limit-request.ts'
import type { LimitResult } from '../limit-result.ts'
import { KeyedLimits } from './keyed-limits.ts'
import type { KeyValues, Limits } from './limits.ts'
import { type Charging, type MatchedRequest, matchRules } from './matched-request.ts'
import { type ParsedLimits, parseLimits } from './parse-limits.ts'
import {
  type DirectoryParts,
  isDirectory,
  openDirectory,
  parseRulesText,
  RulesError,
  type RulesInput,
  type RulesText,
} from './rules-input.ts'
import { type MemoryParts, SingleLimits } from './single-limits.ts'

/** The source of the rules, and how requests are matched with them. */
export interface RuleAccess<Input, Rules> {
  /** Opens the rules, and calls back with each snapshot. Returns the source to close, if there is one. */
  open(parts: DirectoryParts): RuleSource | undefined
  match(parts: DecisionParts, rules: RuleSnapshot, input: Input, charging: Charging): MatchedRequest
  /**
   * Counts one hit of a request that has a single limit. Returns undefined, without counting anything, if the request
   * must be matched.
   */
  countSingle(parts: MemoryParts, input: Input): LimitResult | undefined
  /** @throws RulesError */
  parse(rules: Rules, statistics: Statistics): RuleSnapshot
}

/** Rules from limits that are objects. */
export function createKeyedRules(
  first: ParsedLimits,
  domain: string,
): RuleAccess<KeyValues, Limits> {
  let limits: KeyedLimits | undefined
  let singles: SingleLimits | undefined
  const compile = (parsed: ParsedLimits, statistics: Statistics) => {
    const rules = compileRules(parsed.rules, statistics.rules)
    limits = new KeyedLimits(parsed, domain, rules)
    singles = new SingleLimits(limits)
    return rules
  }
  return {
    open({ statistics, onSnapshot }) {
      onSnapshot(compile(first, statistics))
      return undefined
    },
    match(parts, _rules, values, charging) {
      if (limits === undefined) throw new ServiceError('the limits are not loaded')
      return limits.match(parts, values, charging)
    },
    countSingle: (parts, values) => singles?.count(parts, values),
    parse(given, statistics) {
      const faults: string[] = []
      const parsed = parseLimits(given, domain, faults)
      if (faults.length > 0)
        throw new RulesError(`The limits cannot be used:\n${faults.join('\n')}`)
      return compile(parsed, statistics)
    },
  }
}

/**
 * Rules as text or in files.
 * @throws RulesError when there are errors in the text
 */
export function createWrittenRules(
  input: RulesInput,
  domain: string | undefined,
): RuleAccess<LimitRequest, RulesText> {
  const parsed = isDirectory(input) ? undefined : parseRulesText(input)
  const domainOf = (rules: RuleSnapshot) => {
    if (domain !== undefined || rules.domainCount !== 1) return domain ?? ''
    return rules.domainNames()[0] ?? ''
  }
  return {
    open(parts) {
      if (isDirectory(input)) return openDirectory(input, parts)
      if (parsed !== undefined) parts.onSnapshot(compileRules(parsed, parts.statistics.rules))
      return undefined
    },
    match(parts, rules, input, { hits, isRefund }) {
      const message = toRateLimitRequest(input, domainOf(rules), hits === 1 ? undefined : hits)
      if (message.domain === '') {
        throw new ServiceError(
          'the domain is missing: set it in the request or in the option domain',
        )
      }
      if (message.descriptors.length === 0) throw new ServiceError('descriptors must not be empty')
      if (!isRefund) return matchRules(parts, rules, message)
      const descriptors = message.descriptors.map((descriptor) => {
        return { ...descriptor, hitsAddend: hits, isNegativeHits: true }
      })
      return matchRules(parts, rules, { ...message, descriptors })
    },
    countSingle: () => undefined,
    parse: (text, statistics) => compileRules(parseRulesText(text), statistics.rules),
  }
}
