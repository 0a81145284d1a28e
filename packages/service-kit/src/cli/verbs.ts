import { toVerbFault } from './argument-faults.ts'

/** An operation of a command, such as `create` of `auth admin`. */
export interface Verb {
  /** The arguments after the name of the verb. */
  readonly synopsis: string
  readonly summary: string
}

export interface VerbWithOperands extends Verb {
  /** The minimum and maximum number of positional arguments. */
  readonly takes: readonly [least: number, most: number]
}

/** The verbs for the help of a command. */
export function toVerbLines(verbs: Readonly<Record<string, Verb>>): string {
  return Object.entries(verbs)
    .map(([name, { synopsis, summary }]) => {
      const call = `${name} ${synopsis}`.trim()
      return `  ${call}\n      ${summary.replaceAll('\n', '\n      ')}`
    })
    .join('\n')
}

export interface VerbCall<V> {
  readonly name: string
  readonly verb: V
  /** The arguments after the name of the verb. */
  readonly positionals: readonly string[]
}

/** @returns a message if the verb is unknown, or the number of its arguments is wrong. */
export function findVerb<V extends VerbWithOperands>(
  verbs: Readonly<Record<string, V>>,
  [name, ...positionals]: readonly string[],
): VerbCall<V> | string {
  const verb = name !== undefined && Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (name === undefined || verb === undefined) return toVerbFault(name, Object.keys(verbs))
  const [least, most] = verb.takes
  if (positionals.length < least || positionals.length > most) {
    return `Wrong number of arguments. Usage: ${name} ${verb.synopsis}`.trimEnd()
  }
  return { name, verb, positionals }
}
