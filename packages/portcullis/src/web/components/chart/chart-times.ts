import type { TimeSpan } from './chart-data.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const intervals = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12, 24, 48].map((count) => count * hour),
]

export interface Tick {
  readonly at: number
  readonly text: string
}

/** Returns at most `most` round times of the local clock. */
export function toTicks({ from, to }: TimeSpan, most: number): readonly Tick[] {
  const interval = intervals.find((each) => (to - from) / each <= most) ?? 24 * hour
  const offset = new Date(from).getTimezoneOffset() * minute
  const ticks: Tick[] = []
  const first = Math.ceil((from - offset) / interval) * interval + offset
  for (let at = first; at <= to; at += interval) {
    ticks.push({ at, text: (interval < minute ? precise : coarse).format(at) })
  }
  return ticks
}

/** Returns at most `most` round ages within a time span of this length, in milliseconds, the oldest first. */
export function toAges(length: number, most: number): readonly number[] {
  const interval = intervals.find((each) => length / each <= most) ?? length
  const count = Math.floor(length / interval)
  return Array.from({ length: count }, (_, index) => (count - index) * interval)
}

const coarse = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const precise = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

/** Such as `16:42:55 – 16:43:00`, with the date if it is not today. */
export function formatSpan({ from, to }: TimeSpan, now = Date.now()): string {
  const clock = from % minute === 0 && to % minute === 0 ? coarse : precise
  const date = day.format(from)
  const isToday = date === day.format(now)
  return `${isToday ? '' : `${date}, `}${clock.format(from)} – ${clock.format(to)}`
}

/** Such as `Europe/Berlin (GMT+1)`. */
export function describeTimeZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  if (timeZone === 'UTC') return timeZone
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'shortOffset' }).formatToParts()
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value
  return offset === undefined ? timeZone : `${timeZone} (${offset})`
}

/** Such as `10 min ago`. */
export function formatAgo(milliseconds: number): string {
  const minutes = Math.round(milliseconds / minute)
  if (minutes < 120) return `${minutes} min ago`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} d ago`
}
