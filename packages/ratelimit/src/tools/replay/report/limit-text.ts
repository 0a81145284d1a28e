import { unitByName } from '../../../rules/model/units.ts'
import type { LimitReport } from './report.ts'

/** `100/minute`, `20/5 minutes sliding shadow`. */
export function toLimitText(limit: LimitReport | null): string {
  if (limit === null) return ''
  if (limit.unlimited || limit.unit === null) return 'unlimited'
  const units = limit.windowSeconds / (unitByName(limit.unit)?.seconds ?? limit.windowSeconds)
  const window = units === 1 ? limit.unit : `${units} ${limit.unit}s`
  const marks = [
    limit.algorithm === 'sliding_window' ? ' sliding' : '',
    limit.shadowMode ? ' shadow' : '',
    limit.quotaMode ? ' quota' : '',
  ]
  return `${limit.requestsPerUnit}/${window}${marks.join('')}`
}
