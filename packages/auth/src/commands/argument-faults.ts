import { toQuestion } from '@portcullis/service-kit/similar-names'

/** The error for a first argument that is missing or not one of the verbs of a command. */
export function toVerbFault(name: string | undefined, verbs: readonly string[]): string {
  const list = `Verbs: ${verbs.join(', ')}.`
  if (name === undefined) return `The verb is missing. ${list}`
  return `Unknown verb ${JSON.stringify(name)}. ${list}${toQuestion(name, verbs)}`
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
  if (!(error instanceof Error)) return String(error)
  for (const [pattern, toText] of messages) {
    const [, name] = pattern.exec(error.message) ?? []
    if (name !== undefined) return toText(name)
  }
  return error.message
}
