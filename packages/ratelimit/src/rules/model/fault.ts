import type { Place } from './rule.ts'

/** Something wrong in a rule file. The messages are those of envoyproxy/ratelimit (reference 3.4). */
export interface RuleFault {
  readonly message: string
  readonly place: Place
  /** What to do about it, where the message alone does not say. */
  readonly hint?: string
}

/** What follows `Error loading new configuration: ` in the log. */
export function toLoadError(fault: RuleFault): string {
  const { file, line, column } = fault.place
  return `${file}: ${fault.message} (line ${line}, column ${column})`
}
