import { overrideUnitNames } from './enums.ts'
import type { LimitOverride } from './message.ts'

/** A limit sent by the caller in protobuf's text form: `requests_per_unit:5 unit:HOUR`. */
export function toOverrideText({ requestsPerUnit, unit }: LimitOverride): string {
  const fields: string[] = []
  if (requestsPerUnit !== 0) fields.push(`requests_per_unit:${requestsPerUnit}`)
  if (unit !== 0) fields.push(`unit:${overrideUnitNames[unit] ?? unit}`)
  return fields.join(' ')
}
