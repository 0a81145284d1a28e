/** The characters with which a spreadsheet program recognises a formula. */
const formulaStart = /^[=+\-@\t\r]/

/**
 * Returns a cell for RFC 4180. A text that a spreadsheet program would run as a formula gets an apostrophe, which
 * makes it plain text: users choose their own names.
 */
export function toCsvCell(text: string): string {
  const safe = formulaStart.test(text) ? `'${text}` : text
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function toCsvLine(cells: readonly string[]): string {
  return `${cells.map(toCsvCell).join(',')}\r\n`
}
