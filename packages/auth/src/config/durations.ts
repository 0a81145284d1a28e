import type { Check } from '@portcullis/service-kit/config-check'
import type { AnyVariable } from '@portcullis/service-kit/env'

/** Longer ones no timer of Node can have, and no column of seconds. */
export interface Longest {
  readonly ms: number
  readonly text: string
}

/** What somebody waits for. */
export const oneHour: Longest = { ms: 3_600_000, text: '1h' }
/** What a process does meanwhile. */
export const oneDay: Longest = { ms: 86_400_000, text: '24h' }
/** What the database remembers. */
export const tenYears: Longest = { ms: 315_360_000_000, text: '87600h, which is ten years' }

export const tenYearsInSeconds = tenYears.ms / 1_000

export function checkDuration(
  variable: AnyVariable,
  valueMs: number,
  longest: Longest,
  check: Check,
): void {
  if (valueMs > longest.ms) check.fault(variable, `must be at most ${longest.text}`)
}
