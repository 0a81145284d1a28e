import { RuleLimit, type RuleTable } from '../../hot/index.ts'
import type { Limit } from '../model/rule.ts'

/** One line of /rlconfig. */
export function toLine(limit: Limit): string {
  return (
    `${limit.path}: unit=${unitOf(limit)} requests_per_unit=${requestsOf(limit)}, ` +
    `shadow_mode: ${limit.shadowMode}, quota_mode: ${limit.quotaMode}${extensionsOf(limit)}`
  )
}

/** One line of the log at level debug. */
export function toLoadLine(table: RuleTable, row: number): string {
  const line = `loading descriptor: key=${table.pathOf(row)}`
  if (!table.hasLimit(row)) return line
  const limit = new RuleLimit(table, row)
  return (
    `${line} ratelimit={requests_per_unit=${requestsOf(limit)}, unit=${unitOf(limit)}, ` +
    `unlimited=${limit.unlimited}, shadow_mode=${limit.shadowMode}, ` +
    `quota_mode=${limit.quotaMode}${extensionsOf(limit)}}`
  )
}

function unitOf({ unit }: Limit): string {
  return unit?.name ?? 'UNKNOWN'
}

function requestsOf({ unlimited, requestsPerUnit }: Limit): number {
  return unlimited ? 0 : requestsPerUnit
}

/** Only where a rule uses them: who reads these lines of envoyproxy/ratelimit reads ours as well. */
function extensionsOf({ unit, windowSeconds, algorithm }: Limit): string {
  const multiplier = unit === undefined ? 1 : windowSeconds / unit.seconds
  const length = multiplier === 1 ? '' : ` unit_multiplier=${multiplier}`
  return algorithm === 'fixed_window' ? length : `${length} algorithm=${algorithm}`
}
