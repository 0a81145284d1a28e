import { toMessage } from '../text/reason.ts'
import { toQuestion } from '../text/similar-names.ts'

/**
 * The output for invalid arguments. It refers to the help instead of printing it, because the help
 * of most commands is so long that the error above it would scroll out of view.
 * @param command as in the help, such as `auth migrate`.
 */
export function toArgumentError(command: string, ...faults: readonly string[]): string {
  return `${faults.join('\n')}\nSee: ${command} --help\n`
}

/** The error for a first argument that is missing or not one of the verbs of a command. */
export function toVerbFault(name: string | undefined, verbs: readonly string[]): string {
  const list = `Verbs: ${verbs.join(', ')}.`
  if (name === undefined) return `The verb is missing. ${list}`
  return `Unknown verb ${JSON.stringify(name)}. ${list}${toQuestion(name, verbs)}`
}

/** The error for an option whose value is invalid. @param expected such as `a whole number`. */
export function toValueFault(option: string, expected: string, value: string): string {
  return `${option} must be ${expected}, not ${JSON.stringify(value)}.`
}

/** The messages of `parseArgs`, and ours. */
const messages: readonly (readonly [RegExp, (name: string) => string])[] = [
  [/^Unknown option '([^']+)'/, (name) => `Unknown option ${name}.`],
  [/^Unexpected argument '([^']*)'/, (name) => `Unexpected argument ${JSON.stringify(name)}.`],
  [/^Option '.*?(--[\w-]+).*' does not take an argument/, (name) => `${name} takes no value.`],
  [/^Option '.*?(--[\w-]+).*' argument missing/, (name) => `${name} needs a value.`],
  [
    /^Option '.*?(--[\w-]+).*' argument is ambiguous/,
    (name) => `${name} needs a value. If the value starts with a dash, write ${name}=VALUE.`,
  ],
]

/** Explains an error of `parseArgs` in the style of the other messages. */
export function toArgumentFault(error: unknown): string {
  const message = toMessage(error)
  for (const [pattern, toText] of messages) {
    const [, name] = pattern.exec(message) ?? []
    if (name !== undefined) return toText(name)
  }
  return message
}

/** @returns the result of `parseArgs`, or a message if the arguments are invalid. */
export function parseOrExplain<Parsed extends object>(parse: () => Parsed): Parsed | string {
  try {
    return parse()
  } catch (error) {
    return toArgumentFault(error)
  }
}
