import type { Tag } from '../tags.ts'

export type StatisticType = 'counter' | 'gauge' | 'timer'

/** Returns the line of one value, including its line end. */
export type LineFormat = (
  type: StatisticType,
  name: string,
  tags: readonly Tag[],
  value: number,
) => string

/** How statsd and DogStatsD abbreviate the types. */
export const typeCodes: Readonly<Record<StatisticType, string>> = {
  counter: 'c',
  gauge: 'g',
  timer: 'ms',
}

/** Without decimals for an integer, otherwise with 6. */
export function toNumberText(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(6)
}
