import { findMisspellings } from '../text/similar-names.ts'
import type { AnyVariable, Chapters, Environment, Fault, Reading } from './env.ts'

/** Collects the errors of a configuration that involve more than one variable. */
export interface Check {
  /** Reports an error that prevents the server from starting. */
  fault(variable: AnyVariable, message: string): void
  /** Reports a warning. */
  note(text: string): void
  isSet(variable: AnyVariable): boolean
  /** The name under which the variable was set, or the main name; messages use it. */
  nameOf(variable: AnyVariable): string
}

export interface CollectedCheck extends Check {
  /** All errors so far, starting with those of reading. */
  readonly faults: readonly Fault[]
  readonly notes: readonly string[]
}

export function createCheck<C extends Chapters>(reading: Reading<C>): CollectedCheck {
  const faults = [...reading.faults]
  const notes = [...reading.notes]
  return {
    faults,
    notes,
    fault: (variable, message) => faults.push(reading.toFault(variable, message)),
    note: (text) => notes.push(text),
    isSet: (variable) => reading.nameAsSet(variable) !== undefined,
    nameOf: (variable) => reading.nameAsSet(variable) ?? variable.name,
  }
}

/** Warns about unknown names that are similar to a known one. */
export function noteMisspellings(
  chapters: Chapters,
  names: readonly string[],
  check: Check,
  alsoKnown: readonly string[] = [],
): void {
  const variables = Object.values(chapters).flatMap((chapter) => Object.values(chapter.variables))
  const known = new Set(variables.flatMap(({ name, aliases }) => [name, ...aliases]))
  for (const name of alsoKnown) known.add(name)
  for (const { name, suggestion } of findMisspellings(names, known)) {
    check.note(`${name} is not a variable of this service: did you mean ${suggestion}?`)
  }
}

/** The names of several sources. */
export function namesOf(...sources: readonly Environment[]): string[] {
  return sources.flatMap((source) => Object.keys(source))
}
