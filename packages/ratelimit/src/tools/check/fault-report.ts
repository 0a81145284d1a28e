/** A fault or a warning that `check` shows. Without a line, the message itself names the file. */
export interface Finding {
  readonly severity: 'fault' | 'warning'
  readonly path: string
  readonly line?: number
  readonly column?: number
  readonly message: string
  readonly hint?: string
}

/** Adds colors to text, or leaves it unchanged. */
export interface Palette {
  strong(text: string): string
  fault(text: string): string
  warning(text: string): string
}

export const plainPalette: Palette = {
  strong: (text) => text,
  fault: (text) => text,
  warning: (text) => text,
}

export const colorPalette: Palette = {
  strong: (text) => `\x1b[1m${text}\x1b[0m`,
  fault: (text) => `\x1b[1;31m${text}\x1b[0m`,
  warning: (text) => `\x1b[1;33m${text}\x1b[0m`,
}

/**
 * `path:line:column: message`, with the line of the file and a caret below it:
 *
 *     rules/a.yaml:5:7: config error, unknown key 'unitt'
 *         5 |       unitt: second
 *           |       ^
 */
export function toReport(finding: Finding, source: string | undefined, palette: Palette): string {
  const { severity, path, line, column, message, hint } = finding
  const where = line === undefined ? '' : `${palette.strong(`${toSafe(path)}:${line}:${column}:`)} `
  const paint = palette[severity]
  const label = severity === 'warning' ? `${paint('warning:')} ` : ''
  const rows = [`${where}${label}${toSafe(message)}`]
  if (line !== undefined && column !== undefined && source !== undefined) {
    const { text, caret } = toExcerpt(source, column)
    rows.push(
      `${String(line).padStart(5)} | ${text}`,
      `      | ${indentOf(text, caret)}${paint('^')}`,
    )
  }
  if (hint !== undefined) rows.push(`      = ${toSafe(hint)}`)
  return `${rows.join('\n')}\n`
}

const mostColumns = 120

/** The part of a line around a column, because a line may be a megabyte long. */
function toExcerpt(source: string, column: number): { text: string; caret: number } {
  const from = column > mostColumns ? column - 1 - mostColumns / 2 : 0
  const text = toSafe(source.slice(from, from + mostColumns))
  return { text, caret: column - 1 - from }
}

/** Keeps tabs, so that the caret is below its character. */
function indentOf(text: string, length: number): string {
  return text.slice(0, length).replaceAll(/[^\t]/g, ' ').padEnd(length)
}

/** Escapes control characters, because text from a file must not control the terminal. */
function toSafe(text: string): string {
  return text.replaceAll(controls, '\ufffd')
}

const controls = /[^\t\P{Cc}]/gu
