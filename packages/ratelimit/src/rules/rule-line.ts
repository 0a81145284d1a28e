import type { Limit } from './rule.ts'
import type { RuleNode } from './tree.ts'

/** One line of /rlconfig. */
export function toLine(limit: Limit): string {
  return (
    `${limit.path}: unit=${unitOf(limit)} requests_per_unit=${requestsOf(limit)}, ` +
    `shadow_mode: ${limit.shadowMode}, quota_mode: ${limit.quotaMode}`
  )
}

/** One line of the log at level debug. */
export function toLoadLine({ path, match }: RuleNode): string {
  const line = `loading descriptor: key=${path}`
  if (match === undefined) return line
  const { limit } = match
  return (
    `${line} ratelimit={requests_per_unit=${requestsOf(limit)}, unit=${unitOf(limit)}, ` +
    `unlimited=${limit.unlimited}, shadow_mode=${limit.shadowMode}, quota_mode=${limit.quotaMode}}`
  )
}

function unitOf({ unit }: Limit): string {
  return unit?.name ?? 'UNKNOWN'
}

function requestsOf({ unlimited, requestsPerUnit }: Limit): number {
  return unlimited ? 0 : requestsPerUnit
}
