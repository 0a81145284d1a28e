import { parseDuration } from '@portcullis/service-kit/settings/duration'
import { toLimitText, type Unit, unitByName, units } from '../../rules/index.ts'

interface WrittenLimit {
  readonly requestsPerUnit: number
  readonly unit: Unit
  readonly windowSeconds: number
}

const pattern = /^(\d{1,10})(?: *\/ *| +per +| +every +)(?:(\d{1,9}) +)?([a-z]+?)(s?)$/i

/** `5/minute`, `5 per minute`, `5/10 minutes` or `5 every 10 minutes`. */
export function parseWrittenLimit(text: string): WrittenLimit | undefined {
  const [, requests, count = '1', name = ''] = pattern.exec(text) ?? []
  const unit = unitByName(name)
  const requestsPerUnit = Number(requests)
  const windowSeconds = Number(count) * (unit?.seconds ?? 0)
  // Missing digits result in NaN, which fails here as well.
  if (unit === undefined || !(requestsPerUnit <= 0xffff_ffff) || windowSeconds === 0)
    return undefined
  return { requestsPerUnit, unit, windowSeconds }
}

/** Normalizes a limit for comparisons; undefined if it is invalid. */
export function toLimitForm(text: string): string | undefined {
  if (text === 'none' || text === 'unlimited') return text
  const limit = parseWrittenLimit(text)
  return limit && toLimitText(limit)
}

/** Parses `90s`, `1h30m`, `5 minutes`, `1 day`, or `90` for seconds. Returns undefined for anything else. */
export function parseSpanMs(text: string): number | undefined {
  const [, count, name] = spanPattern.exec(text) ?? []
  if (count === undefined) return parseDuration(text, { bareSeconds: true })
  const unit = units.find((candidate) => candidate.name === name?.toUpperCase())
  return unit && Number(count) * unit.seconds * 1000
}

const spanPattern = /^(\d{1,9}) +([a-z]+?)s?$/i

/** Parses `2026-01-01T12:00:00Z`, `2026-01-01`, or Unix seconds, from 1970 to 9999. */
export function parseInstantMs(text: string): number | undefined {
  if (/^\d{1,12}$/.test(text)) return toKnownInstant(Number(text) * 1000)
  return instantPattern.test(text) ? toKnownInstant(Date.parse(text)) : undefined
}

const instantPattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

export function toKnownInstant(ms: number): number | undefined {
  return ms >= 0 && ms < 253_402_300_800_000 ? ms : undefined
}

/** Shows milliseconds only if they are not 0. */
export function toInstantText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
