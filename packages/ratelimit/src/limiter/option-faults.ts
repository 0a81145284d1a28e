import { toQuestion } from '@portcullis/service-kit/text/similar-names'

/** The error for a name that is not one of the options. */
export function toUnknownOption(name: string, options: Iterable<string>): string {
  const names = [...options]
  const question = toQuestion(name, names)
  return question === ''
    ? `${name} is not an option; the options are ${names.join(', ')}`
    : `${name} is not an option.${question}`
}

/** The message for the errors in the options of a function: one line, or a list. */
export function toOptionsMessage(caller: string, faults: readonly string[]): string {
  if (faults.length === 1) return `${caller}: ${faults[0]}`
  return `${caller}: ${faults.length} options are invalid:\n- ${faults.join('\n- ')}`
}
