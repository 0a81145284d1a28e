import { type DecisionParts, ServiceError } from '../../decide/decision.ts'
import { compileRules, type RuleSnapshot } from '../../rules/match/snapshot.ts'
import type { RuleSource } from '../../rules/sources/source.ts'
import type { Statistics } from '../../stats/registry.ts'
import { type LimitRequest, toRateLimitRequest } from '../limit-request.ts'
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

/** The source of the rules, and how requests are matched with them. */
export interface RuleAccess<Input, Rules> {
  /** Opens the rules, and calls back with each snapshot. Returns the source to close, if there is one. */
  open(parts: DirectoryParts): RuleSource | undefined
  match(parts: DecisionParts, rules: RuleSnapshot, input: Input, charging: Charging): MatchedRequest
  /** @throws RulesError */
  parse(rules: Rules, statistics: Statistics): RuleSnapshot
}

/** Rules from limits that are objects. */
export function createKeyedRules(
  first: ParsedLimits,
  domain: string,
): RuleAccess<KeyValues, Limits> {
  let limits: KeyedLimits | undefined
  const compile = (parsed: ParsedLimits, statistics: Statistics) => {
    const rules = compileRules(parsed.rules, statistics.rules)
    limits = new KeyedLimits(parsed, domain, rules)
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
    parse: (text, statistics) => compileRules(parseRulesText(text), statistics.rules),
  }
}
