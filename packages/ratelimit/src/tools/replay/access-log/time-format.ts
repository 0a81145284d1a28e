import { parseTime } from '../time.ts'
import { FormatError } from './operators.ts'

export type ParseLogTime = (text: string) => number | undefined

/** The format of `%START_TIME(…)%`: the specifiers of `strftime`, and Envoy's `%s` and `%3f`. */
type Part = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'zone' | 'epoch' | 'fraction'

interface Specifier {
  readonly pattern: string
  /** The meanings of the groups in the pattern, in their order. */
  readonly parts: readonly (Part | 'shortYear' | 'monthName' | 'hour12' | 'half')[]
}

const two = '(\\d{2})'
const monthNames = [
  'jan',
  'feb',
  'mar',
  'apr',
  'may',
  'jun',
  'jul',
  'aug',
  'sep',
  'oct',
  'nov',
  'dec',
]
const monthName = { pattern: '([A-Za-z]{3})[a-z]*', parts: ['monthName'] } as const

const specifiers: Readonly<Record<string, Specifier>> = {
  Y: { pattern: '(\\d{4})', parts: ['year'] },
  y: { pattern: two, parts: ['shortYear'] },
  m: { pattern: two, parts: ['month'] },
  b: monthName,
  B: monthName,
  h: monthName,
  d: { pattern: two, parts: ['day'] },
  e: { pattern: ' ?(\\d{1,2})', parts: ['day'] },
  H: { pattern: two, parts: ['hour'] },
  I: { pattern: two, parts: ['hour12'] },
  p: { pattern: '([AaPp][Mm])', parts: ['half'] },
  M: { pattern: two, parts: ['minute'] },
  S: { pattern: two, parts: ['second'] },
  s: { pattern: '(\\d+)', parts: ['epoch'] },
  f: { pattern: '(\\d{9})', parts: ['fraction'] },
  z: { pattern: '(Z|[+-]\\d{2}:?\\d{2})', parts: ['zone'] },
  Z: { pattern: '(?:UTC|GMT|Z)', parts: [] },
  F: { pattern: '(\\d{4})-(\\d{2})-(\\d{2})', parts: ['year', 'month', 'day'] },
  D: { pattern: '(\\d{2})/(\\d{2})/(\\d{2})', parts: ['month', 'day', 'shortYear'] },
  T: { pattern: '(\\d{2}):(\\d{2}):(\\d{2})', parts: ['hour', 'minute', 'second'] },
  R: { pattern: '(\\d{2}):(\\d{2})', parts: ['hour', 'minute'] },
  a: { pattern: '[A-Za-z]+', parts: [] },
  A: { pattern: '[A-Za-z]+', parts: [] },
  '%': { pattern: '%', parts: [] },
}

/**
 * Parses the times that Envoy writes for `%START_TIME(format)%`.
 * @param column - the column of the time format in the format of the log, from 1
 */
export function createTimeParser(
  format: string | undefined,
  column: number,
  isLocal: boolean,
): ParseLogTime {
  if (format === undefined || format === '') return parseTime
  let pattern = ''
  const names: Specifier['parts'][number][] = []
  for (const [, directive, other] of format.matchAll(/%(E?\d?[A-Za-z%])|([^%]|%$)/gs)) {
    if (directive === undefined) {
      pattern += (other ?? '').replace(/[^\w\s]/, '\\$&')
      continue
    }
    const specifier = findSpecifier(directive)
    if (specifier === undefined) {
      const known = Object.keys(specifiers).map((name) => `%${name}`)
      throw new FormatError(
        `the time format contains %${directive}, which is not supported; supported are ${known.join(' ')} and %1f to %9f`,
        column,
      )
    }
    pattern += specifier.pattern
    names.push(...specifier.parts)
  }
  checkParts(names, column, isLocal)
  const expression = new RegExp(`^${pattern}$`)
  return (text) => {
    const groups = expression.exec(text)
    return groups === null ? undefined : toTime(names, groups)
  }
}

function findSpecifier(directive: string): Specifier | undefined {
  const digits = /^(\d)f$/.exec(directive)?.[1]
  if (digits !== undefined && digits !== '0') {
    return { pattern: `(\\d{${digits}})`, parts: ['fraction'] }
  }
  // In Envoy's default format for local times: seconds with a fraction.
  const precise = /^E(\d)S$/.exec(directive)?.[1]
  if (precise !== undefined) {
    return { pattern: `(\\d{2})\\.(\\d{${precise}})`, parts: ['second', 'fraction'] }
  }
  return Object.hasOwn(specifiers, directive) ? specifiers[directive] : undefined
}

function checkParts(names: readonly string[], column: number, isLocal: boolean): void {
  const has = (...wanted: string[]) => wanted.some((name) => names.includes(name))
  if (has('epoch')) return
  const hasDate = has('year', 'shortYear') && has('month', 'monthName') && has('day')
  if (!hasDate || !has('hour', 'hour12')) {
    throw new FormatError('the time format must contain a full date and the hour, or %s', column)
  }
  if (isLocal && !has('zone')) {
    throw new FormatError('a local time can only be read with %z or %s in its format', column)
  }
}

function toTime(names: readonly string[], groups: RegExpExecArray): number | undefined {
  const parts = new Map(names.map((name, index) => [name, groups[index + 1] ?? '']))
  const number = (name: string) => Number(parts.get(name) ?? 0)
  const fraction = Number((parts.get('fraction') ?? '').slice(0, 3).padEnd(3, '0'))
  const epoch = parts.get('epoch')
  if (epoch !== undefined) return Number(epoch) * 1000 + fraction
  const shortYear = parts.get('shortYear')
  const year = shortYear === undefined ? number('year') : 2000 + Number(shortYear)
  const name = parts.get('monthName')?.toLowerCase()
  const month = name === undefined ? number('month') - 1 : monthNames.indexOf(name)
  const half = parts.get('half')?.toLowerCase()
  const hour =
    half === undefined ? number('hour') : (number('hour12') % 12) + (half === 'pm' ? 12 : 0)
  if (month < 0 || month > 11) return undefined
  const utc = Date.UTC(year, month, number('day'), hour, number('minute'), number('second'))
  return utc + fraction - toOffsetMs(parts.get('zone'))
}

function toOffsetMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
