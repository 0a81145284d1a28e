import { styleText } from 'node:util'
import { type CommandIo, usesColor } from '@portcullis/service-kit/cli/command'

export type Style = 'bold' | 'dim' | 'red' | 'yellow'
export type Paint = (style: Style, text: string) => string

export function createPaint(io: CommandIo): Paint {
  const hasColor = usesColor(io)
  return (style, text) => (hasColor ? styleText(style, text, { validateStream: false }) : text)
}

/** Text that users have chosen must not control the terminal. */
export function toSafe(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\ufffd')
}

/** Such as `2026-11-18 04:12`, in UTC. */
export function toTime(text: string | null | undefined): string {
  const time = new Date(text ?? '')
  if (Number.isNaN(time.getTime())) return '-'
  return time.toISOString().slice(0, 16).replace('T', ' ')
}

export type Cell = string | readonly [text: string, style: Style | undefined]

/** One row per line, in columns. */
export function toTable(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  paint: Paint,
): string {
  const texts = rows.map((cells) =>
    cells.map((cell) => (typeof cell === 'string' ? cell : cell[0])),
  )
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...texts.map((cells) => cells[column]?.length ?? 0)),
  )
  const toLine = (cells: readonly Cell[]) =>
    cells
      .map((cell, column) => {
        const [text, style] = typeof cell === 'string' ? [cell, undefined] : cell
        const padded = text.padEnd(widths[column] ?? 0)
        return style ? paint(style, padded) : padded
      })
      .join('  ')
      .trimEnd()
  return `${[paint('bold', toLine(headings)), ...rows.map(toLine)].join('\n')}\n`
}

export type Fact = readonly [name: string, value: string]

/** One fact per line, the values in one column. */
export function toFactLines(facts: readonly Fact[], paint: Paint): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 2
  return facts.map(([name, value]) => `${paint('dim', name.padEnd(width))}${value}\n`).join('')
}
