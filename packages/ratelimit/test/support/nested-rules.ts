import type { Descriptor, JsonObject } from '../../src/protocol/message.ts'
import type { LimitRecord, RuleRecord, RuleSet, Unit } from '../../src/rules/model/rule.ts'
import { RuleCounters, type RuleCountersByKey } from '../../src/stats/rule-counters.ts'

/** A nested rule with the fields of the YAML files in camel case. */
export interface NestedRule {
  readonly key: string
  readonly value?: string
  readonly limit?: NestedLimit
  readonly shadowMode?: boolean
  readonly quotaMode?: boolean
  readonly detailedMetric?: boolean
  readonly valueToMetric?: boolean
  readonly shareThreshold?: boolean
  readonly metadata?: JsonObject
  readonly rules?: readonly NestedRule[]
}

export interface NestedLimit {
  readonly per?: Unit['name']
  readonly requests?: number
  readonly unlimited?: boolean
  readonly name?: string
  readonly replaces?: readonly string[]
}

/** Converts nested rules in depth-first order, each on a separate line. */
export function toRuleSet(domains: Readonly<Record<string, readonly NestedRule[]>>): RuleSet {
  const rules: RuleRecord[] = []
  const add = (domain: string, parent: number, nested: readonly NestedRule[]) => {
    for (const rule of nested) {
      const index = rules.length
      rules.push(toRecord(domain, parent, rule, index + 1))
      add(domain, index, rule.rules ?? [])
    }
  }
  for (const [domain, nested] of Object.entries(domains)) add(domain, -1, nested)
  return { domains: Object.keys(domains), rules }
}

function toRecord(domain: string, parent: number, rule: NestedRule, line: number): RuleRecord {
  return {
    parent,
    domain,
    key: rule.key,
    value: rule.value ?? '',
    limit: rule.limit && toLimitRecord(rule.limit),
    shadowMode: rule.shadowMode ?? false,
    quotaMode: rule.quotaMode ?? false,
    detailedMetric: rule.detailedMetric ?? false,
    valueToMetric: rule.valueToMetric ?? false,
    shareThreshold: rule.shareThreshold ?? false,
    metadata: rule.metadata,
    place: { file: 'rules.yaml', line, column: 5 },
  }
}

function toLimitRecord(limit: NestedLimit): LimitRecord {
  const unlimited = limit.unlimited ?? false
  return {
    requestsPerUnit: limit.requests ?? 0,
    unit: unlimited ? undefined : (limit.per ?? 'MINUTE'),
    unlimited,
    name: limit.name ?? '',
    unitMultiplier: 1,
    algorithm: 'fixed_window',
    replaces: limit.replaces ?? [],
  }
}

/** `toDescriptor('a=1', 'b=2')`; other fields have their default values. */
export function toDescriptor(...pairs: readonly string[]): Descriptor {
  const entries = pairs.map((pair) => {
    const at = pair.indexOf('=')
    return { key: pair.slice(0, at), value: pair.slice(at + 1) }
  })
  return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
}

/** Records which keys were requested, and with which method. */
export class KeyRecorder implements RuleCountersByKey {
  readonly rules = new Map<string, RuleCounters>()
  readonly requests = new Map<string, RuleCounters>()

  forRule(key: string): RuleCounters {
    return this.#get(this.rules, key)
  }

  forRequest(key: string): RuleCounters {
    return this.#get(this.requests, key)
  }

  /** The key of these counters. */
  keyOf(counters: RuleCounters | undefined): string | undefined {
    for (const known of [this.rules, this.requests]) {
      for (const [key, value] of known) if (value === counters) return key
    }
    return undefined
  }

  #get(known: Map<string, RuleCounters>, key: string): RuleCounters {
    let counters = known.get(key)
    if (counters === undefined) {
      counters = new RuleCounters()
      known.set(key, counters)
    }
    return counters
  }
}
