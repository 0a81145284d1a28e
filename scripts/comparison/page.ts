/** A table in Markdown. */
export function toMarkdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [toLine(head), `|${'---|'.repeat(head.length)}`, ...rows.map(toLine)].join('\n')
}

/** Replaces the text between `<!-- name -->` and `<!-- /name -->`. */
export function replaceSection(page: string, name: string, content: string): string {
  const start = `<!-- ${name} -->`
  const from = page.indexOf(start)
  const to = page.indexOf(`<!-- /${name} -->`, from)
  if (from < 0 || to < 0) throw new Error(`The page has no section "${name}".`)
  return `${page.slice(0, from + start.length)}\n${content}\n${page.slice(to)}`
}

/** Counts the lines of code, without blank lines and comments. */
export function countCodeLines(code: string): number {
  return code.split('\n').filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length
}

/** A ratio with the measured value: `2.50 (1.2 µs)`. */
export function toRatioCell(ratio: number, microseconds: number): string {
  return `${toRatio(ratio)} (${toMicroseconds(microseconds)})`
}

const toRatio = (ratio: number): string => `${ratio.toFixed(ratio < 10 ? 2 : 1)} ×`

export const toMicroseconds = (value: number): string =>
  `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} µs`

export const toKilobytes = (bytes: number): string =>
  `${(bytes / 1000).toFixed(bytes < 100_000 ? 1 : 0)} kB`
