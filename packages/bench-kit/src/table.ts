import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

export interface Cell {
  readonly text: string
  readonly style?: Style
}

export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
}

export const left = (title: string): Column => ({ title, align: 'left' })
export const right = (title: string): Column => ({ title, align: 'right' })

/** Uses colours on a terminal; plain text in a pipe and with NO_COLOR. */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
): string {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: cell } : cell)),
  )
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.text.length ?? 0)),
  )
  const formatRow = (row: readonly Cell[]) =>
    row
      .map(({ text, style }, index) => {
        const width = widths[index] ?? 0
        const padded = columns[index]?.align === 'right' ? text.padStart(width) : text.padEnd(width)
        return style === undefined ? padded : paint(style, padded)
      })
      .join('  ')
      .trimEnd()
  const head = columns.map(({ title }) => ({ text: title, style: 'dim' as const }))
  return [formatRow(head), ...cells.map(formatRow)].join('\n')
}

/** 12,345 */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** 0.09, 1.23, 12.3, 123 */
export function formatRatio(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}
