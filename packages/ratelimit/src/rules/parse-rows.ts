import type { JsonObject, LimitRecord, RuleRecord } from './rule.ts'

/**
 * Rules on their way between threads: rows of JSON, which is read back faster than cloned objects,
 * with the names that repeat (domains and files) as indices.
 */
export interface RowNames {
  readonly domains: readonly string[]
  readonly files: readonly string[]
}

type RuleRow = readonly [
  parent: number,
  domain: number,
  key: string,
  value: string,
  flags: number,
  limit: LimitRow | null,
  metadata: JsonObject | null,
  file: number,
  line: number,
  column: number,
]

type LimitRow = readonly [
  requestsPerUnit: number,
  unit: LimitRecord['unit'] | null,
  unlimited: boolean,
  name: string,
  replaces: readonly string[] | null,
]

/** Makes the writer of one set of rules; it writes a part of them as text. */
export function createRowWriter(names: RowNames): (rules: readonly RuleRecord[]) => string {
  const domains = new Map(names.domains.map((name, index) => [name, index]))
  const files = new Map(names.files.map((name, index) => [name, index]))
  const toRow = (rule: RuleRecord): RuleRow => [
    rule.parent,
    domains.get(rule.domain) ?? 0,
    rule.key,
    rule.value,
    toFlags(rule),
    rule.limit ? toLimitRow(rule.limit) : null,
    rule.metadata ?? null,
    files.get(rule.place.file) ?? 0,
    rule.place.line,
    rule.place.column,
  ]
  return (rules) => JSON.stringify(rules.map(toRow))
}

export function parseRows(text: string, names: RowNames): RuleRecord[] {
  const rows: readonly RuleRow[] = JSON.parse(text)
  return rows.map((row) => toRule(row, names))
}

function toRule(row: RuleRow, names: RowNames): RuleRecord {
  const [parent, domain, key, value, flags, limit, metadata, file, line, column] = row
  return {
    parent,
    domain: names.domains[domain] ?? '',
    key,
    value,
    limit: limit === null ? undefined : toLimit(limit),
    shadowMode: (flags & shadowMode) !== 0,
    quotaMode: (flags & quotaMode) !== 0,
    detailedMetric: (flags & detailedMetric) !== 0,
    valueToMetric: (flags & valueToMetric) !== 0,
    shareThreshold: (flags & shareThreshold) !== 0,
    metadata: metadata ?? undefined,
    place: { file: names.files[file] ?? '', line, column },
  }
}

const shadowMode = 1
const quotaMode = 2
const detailedMetric = 4
const valueToMetric = 8
const shareThreshold = 16

function toFlags(rule: RuleRecord): number {
  return (
    (rule.shadowMode ? shadowMode : 0) |
    (rule.quotaMode ? quotaMode : 0) |
    (rule.detailedMetric ? detailedMetric : 0) |
    (rule.valueToMetric ? valueToMetric : 0) |
    (rule.shareThreshold ? shareThreshold : 0)
  )
}

function toLimitRow(limit: LimitRecord): LimitRow {
  const replaces = limit.replaces.length > 0 ? limit.replaces : null
  return [limit.requestsPerUnit, limit.unit ?? null, limit.unlimited, limit.name, replaces]
}

function toLimit(row: LimitRow): LimitRecord {
  const [requestsPerUnit, unit, unlimited, name, replaces] = row
  return { requestsPerUnit, unit: unit ?? undefined, unlimited, name, replaces: replaces ?? [] }
}
