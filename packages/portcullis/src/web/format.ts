const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const precise = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** Such as `1,234`; numbers below 100 have up to one decimal. */
export function formatNumber(value: number): string {
  return Math.abs(value) < 100 ? precise.format(value) : whole.format(value)
}

/** Such as `1 user` or `1,234 users`. */
export function formatCountOf(count: number, singular: string, plural = `${singular}s`): string {
  return `${whole.format(count)} ${count === 1 ? singular : plural}`
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const longestCount = 10_000

/** Such as `1,234`, or `12.3K` for numbers too long for a narrow column. */
export function formatCount(value: number): string {
  return value < longestCount ? whole.format(value) : compact.format(value)
}

const oneDigit = new Intl.NumberFormat('en', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
})

/** Such as `12.0`; the fixed number of decimals keeps a changing value in place. */
export function formatRate(value: number): string {
  return value < 1_000 ? oneDigit.format(value) : formatCount(value)
}

const steps = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3_600 },
  { unit: 'minute', seconds: 60 },
  { unit: 'second', seconds: 1 },
] as const
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Such as `2 minutes ago`. */
export function formatAge(time: number | string | Date, now = Date.now()): string {
  const seconds = Math.round((new Date(time).getTime() - now) / 1000)
  if (Math.abs(seconds) < 5) return 'just now'
  const step = steps.find((each) => Math.abs(seconds) >= each.seconds) ?? steps[3]
  return relative.format(Math.round(seconds / step.seconds), step.unit)
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** Such as `16:42:57`. */
export function formatClock(time: number): string {
  return clock.format(new Date(time))
}

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** Such as `15 Nov 2026, 16:42:57`. */
export function formatTime(time: number | string | Date): string {
  return moment.format(new Date(time))
}

/** Such as `15 Nov 2026, 16:42:57 to 16:43:57`; the second date only if it differs. */
export function formatPeriod(from: number, to: number): string {
  const isSameDay = new Date(from).toDateString() === new Date(to).toDateString()
  return `${formatTime(from)} to ${isSameDay ? formatClock(to) : formatTime(to)}`
}

/** The auth server stores phone numbers without the plus sign. */
export function formatPhone(phone: string): string {
  return phone.startsWith('+') ? phone : `+${phone}`
}
