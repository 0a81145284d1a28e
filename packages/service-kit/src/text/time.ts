const pattern =
  /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-5]):[0-5]\d))?$/i

/**
 * Parses a date, which means its start in UTC, or a time with a time zone. `Date.parse` also accepts numbers,
 * 31 February, the year 0 and any time zone, which PostgreSQL refuses.
 * @returns milliseconds since 1970, or undefined if the text is not a time.
 */
export function parseTime(text: string): number | undefined {
  const [, date = ''] = pattern.exec(text) ?? []
  const dateMs = Date.parse(date)
  if (Number.isNaN(dateMs) || date.startsWith('0000')) return undefined
  const isInCalendar = new Date(dateMs).toISOString().startsWith(date)
  const ms = Date.parse(text)
  return isInCalendar && !Number.isNaN(ms) ? ms : undefined
}
