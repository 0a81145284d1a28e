import { toQuestion } from '@portcullis/service-kit/similar-names'

/** The error for a first argument that is missing or not one of the verbs of a command. */
export function toVerbFault(name: string | undefined, verbs: readonly string[]): string {
  const list = `Verbs: ${verbs.join(', ')}.`
  if (name === undefined) return `The verb is missing. ${list}`
  return `Unknown verb ${JSON.stringify(name)}. ${list}${toQuestion(name, verbs)}`
}
