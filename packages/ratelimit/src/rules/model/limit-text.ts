import type { Limit } from './rule.ts'
import type { Unit } from './units.ts'

/** `5 per minute`, `5 every 10 minutes` or `unlimited`, for people. */
export function toLimitText(
  limit: Pick<Limit, 'requestsPerUnit' | 'unit' | 'windowSeconds'>,
): string {
  const { requestsPerUnit, unit, windowSeconds } = limit
  if (unit === undefined) return 'unlimited'
  const count = windowSeconds / unit.seconds
  const name = toUnitText(unit)
  return count === 1
    ? `${requestsPerUnit} per ${name}`
    : `${requestsPerUnit} every ${count} ${name}s`
}

/** As it is written in rule files. */
export function toUnitText({ name }: Unit): string {
  return name.toLowerCase()
}
