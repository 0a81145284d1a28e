import type { Tag } from '../../tags.ts'

export type StatisticType = 'counter' | 'gauge' | 'timer'

/** How one value is written, with the end of the line. */
export type LineFormat = (
  type: StatisticType,
  name: string,
  tags: readonly Tag[],
  value: number,
) => string

/** Integers when possible, else 6 decimals (reference 7.2). */
export function toNumberText(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(6)
}
