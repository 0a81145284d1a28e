import { parseDuration } from '@portcullis/service-kit/settings/duration'

/** Parses a duration such as `24h` or `30d` to milliseconds. Go's format has no days, but people write them. */
export function parseDays(text: string): number | undefined {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? []
  return days === undefined ? parseDuration(text) : Number(days) * 86_400_000
}
