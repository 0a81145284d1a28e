import type { RuleCountersByKey } from '../stats/rule-counters.ts'
import type { Limit, LimitRecord, Match, RuleRecord } from './rule.ts'
import { toLevel, toStatisticsKey } from './statistics-key.ts'
import { depthOf, type RuleNode } from './tree.ts'
import { unitByName } from './units.ts'
import { isWildcard } from './wildcard.ts'

/**
 * Works out all that can be known of a rule before a request comes.
 * @param key that of the record; one string for all rules with that key stays in the caches.
 */
export function toRuleNode(
  record: RuleRecord,
  key: string,
  parent: RuleNode | undefined,
  counters: RuleCountersByKey,
): RuleNode {
  const { domain, value, place, detailedMetric, valueToMetric } = record
  const path = `${parent?.path ?? domain}.${toLevel(key, value)}`
  const isPattern = isWildcard(value)
  const isShared = isPattern && record.shareThreshold
  const isOpen = value === '' || (isPattern && !isShared)
  const hasOpenLevel = isOpen || (parent?.hasOpenLevel ?? false)
  const hasMetricLevel = (isOpen && valueToMetric) || (parent?.hasMetricLevel ?? false)
  const sharedValues = toSharedValues(parent, isShared ? value : undefined)
  let match: Match | undefined
  if (record.limit !== undefined) {
    const limit = toLimit(record, record.limit, path)
    match = { limit, counters: counters.forRule(toStatisticsKey(path)), sharedValues }
  }
  // What a decision reads comes first, so that it lies together in memory.
  return {
    match,
    namesValues: detailedMetric ? hasOpenLevel : hasMetricLevel,
    onlyChild: undefined,
    children: undefined,
    domain,
    key,
    value,
    place,
    parent,
    path,
    sharedValues,
    isShared,
    detailedMetric,
    valueToMetric,
    hasOpenLevel,
    hasMetricLevel,
  }
}

function toLimit(record: RuleRecord, limit: LimitRecord, path: string): Limit {
  const unit = limit.unit === undefined ? undefined : unitByName(limit.unit)
  if (limit.unlimited === (unit !== undefined)) {
    throw new TypeError(`Rule ${path} must have a unit or be unlimited`)
  }
  return {
    requestsPerUnit: limit.requestsPerUnit,
    unit,
    unlimited: limit.unlimited,
    name: limit.name,
    replaces: limit.replaces,
    shadowMode: record.shadowMode,
    quotaMode: record.quotaMode,
    metadata: record.metadata,
    path,
  }
}

function toSharedValues(
  parent: RuleNode | undefined,
  shared: string | undefined,
): readonly (string | undefined)[] | undefined {
  const above = parent?.sharedValues
  if (above === undefined && shared === undefined) return undefined
  const levelsAbove = parent === undefined ? 0 : depthOf(parent)
  return [...(above ?? Array.from({ length: levelsAbove }, () => undefined)), shared]
}
