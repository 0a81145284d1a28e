import { findSimilarName } from '@portcullis/service-kit/similar-names'
import { longestWindowSeconds, type Unit, unitByName, units } from '../rules/model/rule.ts'

/** A unit of time. Windows of months have 30 days, those of years 365. */
export type LimitUnit = Lowercase<Unit['name']>

/**
 * How many requests are allowed in which time: `'100/minute'`, `'5/10 minutes'`, or `'unlimited'`.
 */
export type LimitText = 'unlimited' | `${number}/${LimitUnit}` | `${number}/${number} ${LimitUnit}s`

export interface ParsedLimit {
  readonly requestsPerUnit: number
  /** Undefined where it is unlimited. */
  readonly unit: Unit | undefined
  readonly unitMultiplier: number
}

const pattern = /^(?<requests>[\d_]+)\s*(?:\/|\sper\s)\s*(?:(?<count>\d+)\s+)?(?<unit>[a-z]+)$/i

/** @throws {TypeError} whose message says what is wrong and what to write. */
export function parseLimitText(text: string): ParsedLimit {
  const written = text.trim()
  if (written === 'unlimited') return { requestsPerUnit: 0, unit: undefined, unitMultiplier: 1 }
  const groups = pattern.exec(written)?.groups
  if (groups === undefined) {
    const question = findSimilarName(written, ['unlimited']) ? " Did you mean 'unlimited'?" : ''
    throw new TypeError(
      `'${text}' is not a limit: write '100/minute' or '5/10 minutes'.${question}`,
    )
  }
  const requestsPerUnit = Number(groups['requests']?.replaceAll('_', ''))
  if (!(requestsPerUnit < 2 ** 32)) {
    throw new TypeError(`'${text}' is not a limit: it can be at most 4294967295 requests`)
  }
  const name = groups['unit'] ?? ''
  const unit = unitByName(name) ?? unitByName(name.replace(/s$/i, ''))
  if (unit === undefined) throw new TypeError(`'${text}' is not a limit: ${describeUnit(name)}`)
  const unitMultiplier = Number(groups['count'] ?? 1)
  const windowSeconds = unit.seconds * unitMultiplier
  if (unitMultiplier < 1 || windowSeconds > longestWindowSeconds) {
    throw new TypeError(`'${text}' is not a limit: a window lasts from 1 second to 10 years`)
  }
  return { requestsPerUnit, unit, unitMultiplier }
}

/** @throws {TypeError} where it is not a unit. */
export function parseUnit(name: unknown): Unit {
  const unit = typeof name === 'string' ? unitByName(name) : undefined
  if (unit === undefined) throw new TypeError(describeUnit(String(name)))
  return unit
}

const unitNames = units.map(({ name }) => name.toLowerCase())

function describeUnit(name: string): string {
  const meant = findSimilarName(name.toLowerCase(), unitNames)
  const question = meant === undefined ? '' : ` Did you mean '${meant}'?`
  return `'${name}' is not a unit; units are ${unitNames.join(', ')}.${question}`
}
