import { styleText } from 'node:util'

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan'
export type Paint = (style: Style, text: string) => string

export function createPaint(hasColor: boolean): Paint {
  return (style, text) => (hasColor ? styleText(style, text, { validateStream: false }) : text)
}

export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  readonly isNumber?: boolean
  readonly style?: (row: Row) => Style | undefined
}

/** Formats a table with minimal column widths and right-aligned numbers. Empty columns are omitted. */
export function toTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  paint: Paint,
): string[] {
  const used = columns.filter(({ text }) => rows.some((row) => text(row) !== ''))
  const widths = used.map(({ title, text }) =>
    Math.max(title.length, ...rows.map((row) => text(row).length)),
  )
  const pad = (text: string, index: number) => {
    const width = widths[index] ?? 0
    return used[index]?.isNumber === true ? text.padStart(width) : text.padEnd(width)
  }
  const head = used.map(({ title }, index) => pad(title, index)).join('  ')
  const lines = rows.map((row) =>
    used
      .map(({ text, style }, index) => {
        const painted = style?.(row)
        const cell = pad(text(row), index)
        return painted === undefined ? cell : paint(painted, cell)
      })
      .join('  ')
      .trimEnd(),
  )
  return [paint('bold', head.trimEnd()), ...lines]
}

export function toNumberText(number: number): string {
  return number.toLocaleString('en-US')
}

/** Formats a share with enough digits that a small one is not shown as 0 % and a large one not as 100 %. */
export function toShareText(share: number): string {
  const percent = share * 100
  if (share === 0 || share === 1) return `${percent} %`
  if (percent < 0.01) return '<0.01 %'
  if (percent > 99.99) return '>99.99 %'
  return `${percent.toFixed(percent < 1 || percent > 99 ? 2 : 1)} %`
}

const controls = /\p{Cc}/gu

/** Escapes control characters, because text from a log must not control the terminal. */
export function toSafeText(text: string): string {
  return text.replaceAll(controls, '\ufffd')
}
