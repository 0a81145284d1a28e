import type { Place } from './rule.ts'

/** An error in a rule file. The messages are those of envoyproxy/ratelimit. */
export interface RuleFault {
  readonly message: string
  readonly place: Place
  /** How to correct it, if the message alone does not say. */
  readonly hint?: string
}

/** The text after `Error loading new configuration: ` in the log. */
export function toLoadError(fault: RuleFault): string {
  const { file, line, column } = fault.place
  return `${file}: ${fault.message} (line ${line}, column ${column})`
}
