import type { AnyVariable, Chapters, Environment, Fault, Reading } from './env.ts'
import { findMisspellings } from './similar-names.ts'

/** Where the chapters of a configuration report what no single variable can tell. */
export interface Check {
  /** The server cannot start like this. */
  fault(variable: AnyVariable, message: string): void
  /** Worth a warning. */
  note(text: string): void
  isSet(variable: AnyVariable): boolean
  /** The name as it was set, or the main one: what a message calls the variable. */
  nameOf(variable: AnyVariable): string
}

export interface CollectedCheck extends Check {
  /** All so far, those of the reading first. */
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

/** Notes names that nobody reads and that look like one of ours. */
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

/** All names of several sources. */
export function namesOf(...sources: readonly Environment[]): string[] {
  return sources.flatMap((source) => Object.keys(source))
}
