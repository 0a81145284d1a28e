/** Smaller numbers are seconds, up to the year 5138. Larger ones are milliseconds, and so on. */
const leastMs = 1e11
const leastMicroseconds = 1e14
const leastNanoseconds = 1e17
/** The range of a date. */
const mostMs = 8.64e15

/**
 * Converts a time in a log to milliseconds since the epoch: an ISO date, or the seconds, milliseconds,
 * microseconds or nanoseconds since 1970 as a number or a string of digits.
 */
export function parseTime(value: unknown): number | undefined {
  if (typeof value === 'string') {
    return value.charCodeAt(4) === dash ? parseIsoTime(value) : parseTextTime(value)
  }
  return typeof value === 'number' ? toMs(value) : undefined
}

function parseTextTime(text: string): number | undefined {
  if (/^\d+(\.\d*)?$/.test(text)) return toMs(Number(text))
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

function toMs(number: number): number | undefined {
  if (!(number >= 0)) return undefined
  let ms = number / 1e6
  if (number < leastMs) ms = number * 1000
  else if (number < leastMicroseconds) ms = number
  else if (number < leastNanoseconds) ms = number / 1000
  return ms <= mostMs ? Math.floor(ms) : undefined
}

const dash = 0x2d
const colon = 0x3a
const point = 0x2e
const zero = 0x30
const [letterT, letterZ] = [0x54, 0x5a]
/** `2026-01-01T00:00:00Z` */
const shortest = 20
const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

/**
 * Hot path, called once per line. The most common format is parsed by hand, in a fifth of the time of
 * `Date.parse`, which parses all others.
 */
export function parseIsoTime(text: string): number | undefined {
  return parseUtcTime(text) ?? parseAnyTime(text)
}

function parseAnyTime(text: string): number | undefined {
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

function parseUtcTime(text: string): number | undefined {
  const last = text.length - 1
  if (
    last < shortest - 1 ||
    text.charCodeAt(last) !== letterZ ||
    text.charCodeAt(4) !== dash ||
    text.charCodeAt(7) !== dash ||
    text.charCodeAt(10) !== letterT ||
    text.charCodeAt(13) !== colon ||
    text.charCodeAt(16) !== colon
  ) {
    return undefined
  }
  const year = pairAt(text, 0) * 100 + pairAt(text, 2)
  const month = pairAt(text, 5)
  const day = pairAt(text, 8)
  const hour = pairAt(text, 11)
  const minute = pairAt(text, 14)
  const second = pairAt(text, 17)
  // A character that is not a digit results in NaN, and no comparison with NaN is true.
  const isDate = month >= 1 && day >= 1 && day <= (daysOfMonth[month - 1] ?? 0) && year >= 1970
  // `Date.parse` decides whether it is a leap year.
  const isLeapDay = month === 2 && day === 29
  if (!isDate || isLeapDay || !(hour < 24 && minute < 60 && second < 60)) return undefined
  const fraction = last === shortest - 1 ? 0 : millisecondsAt(text, shortest - 1, last)
  const seconds = daysUntil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
  return Number.isNaN(fraction) ? undefined : seconds * 1000 + fraction
}

function pairAt(text: string, at: number): number {
  return digitAt(text, at) * 10 + digitAt(text, at + 1)
}

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - zero
  return digit >= 0 && digit <= 9 ? digit : Number.NaN
}

/** The milliseconds of a fraction of any length, starting at its point; smaller parts are truncated. */
function millisecondsAt(text: string, start: number, end: number): number {
  if (text.charCodeAt(start) !== point || end === start + 1) return Number.NaN
  let ms = 0
  let unit = 100
  for (let at = start + 1; at < end; at += 1) {
    const digit = digitAt(text, at)
    if (unit >= 1 || Number.isNaN(digit)) ms += digit * unit
    unit /= 10
  }
  return ms
}

/** Days since 1970 in the Gregorian calendar, with years that begin in March. */
function daysUntil(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** The format for reports and JSON. */
export function toIsoText(ms: number): string {
  return new Date(ms).toISOString()
}
