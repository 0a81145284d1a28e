import { type ParseArgsConfig, parseArgs } from 'node:util'
import { toArgumentFault, toValueFault } from '@portcullis/service-kit/cli/argument-faults'
import { wrapText } from '@portcullis/service-kit/text/format'

/** An invalid command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type OptionTable = NonNullable<ParseArgsConfig['options']>

const help = { type: 'boolean', short: 'h', default: false } as const

/**
 * Every benchmark has `--help` in addition to its own options.
 * @throws {UsageError} for an unknown option, or an option without its value.
 */
export function parseOptions<const Options extends OptionTable>(
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options: { ...options, help } }).values
  } catch (error) {
    throw new UsageError(toArgumentFault(error))
  }
}

/** @throws {UsageError} */
export function parsePositive(name: string, text: string): number {
  const value = Number(text)
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value
  throw new UsageError(toValueFault(`--${name}`, 'a number above 0', text))
}

/** @throws {UsageError} */
export function parseCount(name: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  throw new UsageError(toValueFault(`--${name}`, 'a whole number above 0', text))
}

/** @throws {UsageError} */
export function parseChoice<Choice extends string>(
  name: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((one) => one === text)
  if (choice !== undefined) return choice
  throw new UsageError(toValueFault(`--${name}`, `one of ${choices.join(', ')}`, text))
}

/**
 * What to measure: names separated by commas. Default: everything.
 * @throws {UsageError}
 */
export function parseSelection(
  text: string | undefined,
  known: readonly string[],
): readonly string[] {
  const wanted = text?.split(',') ?? known
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown === undefined) return wanted
  throw new UsageError(`Unknown name "${unknown}". Choose from: ${known.join(', ')}.`)
}

const helpColumns = 80

/** A list of names for a help page. @param indent the column in which the list starts. */
export function listNames(names: readonly string[], indent: number): string {
  return wrapText(names.join(', '), helpColumns - indent).join(`\n${' '.repeat(indent)}`)
}
