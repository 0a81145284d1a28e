import { type Cell, createPaint, type Fact, toFactLines, toTable } from './text.ts'
import type { AdminInput } from './verb.ts'

type Output = Pick<AdminInput<string>, 'io' | 'values'>

/** Prints an item: as JSON with `--json`, otherwise as a line or as facts. */
export function printItem(
  { io, values }: Output,
  item: object,
  text: string | readonly Fact[],
): void {
  const plain = typeof text === 'string' ? `${text}\n` : toFactLines(text, createPaint(io))
  io.stdout.write(values.json ? `${JSON.stringify(item)}\n` : plain)
}

interface ListText<Item> {
  readonly headings: readonly string[]
  readonly toRow: (item: Item) => readonly Cell[]
  /** What is printed if there are no items. */
  readonly none: string
}

/** Prints items: with `--json` one object per line, otherwise a table. */
export function printList<Item extends object>(
  { io, values }: Output,
  items: readonly Item[],
  { headings, toRow, none }: ListText<Item>,
): void {
  if (values.json) for (const item of items) io.stdout.write(`${JSON.stringify(item)}\n`)
  else if (items.length === 0) io.stderr.write(`${none}\n`)
  else io.stdout.write(toTable(headings, items.map(toRow), createPaint(io)))
}
