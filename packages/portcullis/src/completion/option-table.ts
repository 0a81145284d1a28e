import { wrapText } from '@portcullis/service-kit/text/format'
import type { CommandOption, ValueKind } from './command-tree.ts'

/** The options of a command by name, in the order of the help text. */
export type OptionTable = Readonly<Record<string, OptionRow>>

export interface OptionRow {
  /** The placeholder of the value in the help text; missing if the option takes no value. */
  readonly value?: string
  readonly meaning: string
  /** Whether the option can be given several times. */
  readonly isRepeated?: boolean
  /** How a shell completes the value. Default: not at all. */
  readonly kind?: ValueKind
}

const columns = 80

export function toHelpLines(table: OptionTable): string {
  const rows = Object.entries(table).map(([name, { value, meaning }]) => {
    return [value === undefined ? `--${name}` : `--${name} ${value}`, meaning] as const
  })
  const width = Math.max(...rows.map(([option]) => option.length))
  const indent = `\n${' '.repeat(width + 4)}`
  return rows
    .map(([option, meaning]) => {
      // The no-break space keeps the default on the line of its label.
      const text = meaning.replace('default: ', 'default:\u00a0')
      const lines = wrapText(text, columns - width - 4).join(indent)
      return `  ${option.padEnd(width)}  ${lines.replace('\u00a0', ' ')}`
    })
    .join('\n')
}

/** Converts the table to the options of a completion tree. */
export function toCommandOptions(table: OptionTable): CommandOption[] {
  return Object.entries(table).map(([name, { value, meaning, kind = 'any' }]) => ({
    flags: [`--${name}`],
    summary: meaning,
    ...(value !== undefined && { value: kind }),
  }))
}
