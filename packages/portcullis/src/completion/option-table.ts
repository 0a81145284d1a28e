import type { CommandOption, ValueKind } from './command-tree.ts'

/** The options of a command by name, in the order of the help text. */
export type OptionTable = Readonly<Record<string, OptionRow>>

export interface OptionRow {
  /** The placeholder of the value in the help text; missing if the option takes no value. */
  readonly value?: string
  /** May contain line breaks, which only the help text keeps. */
  readonly meaning: string
  /** How a shell completes the value. Default: not at all. */
  readonly kind?: ValueKind
}

export function toHelpLines(table: OptionTable): string {
  const rows = Object.entries(table).map(([name, { value, meaning }]) => {
    return [value === undefined ? `--${name}` : `--${name} ${value}`, meaning] as const
  })
  const width = Math.max(...rows.map(([option]) => option.length))
  const indent = `\n${' '.repeat(width + 4)}`
  return rows
    .map(([option, meaning]) => `  ${option.padEnd(width)}  ${meaning.replaceAll('\n', indent)}`)
    .join('\n')
}

/** Converts the table to the options of a completion tree. */
export function toCommandOptions(table: OptionTable): CommandOption[] {
  return Object.entries(table).map(([name, { value, meaning, kind = 'any' }]) => ({
    flags: [`--${name}`],
    summary: meaning.replaceAll('\n', ' '),
    ...(value !== undefined && { value: kind }),
  }))
}
