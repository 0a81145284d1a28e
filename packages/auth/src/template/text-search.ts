/** Where the text is found; its end where it is not. */
export function indexOr(text: string, wanted: string, at: number): number {
  const found = text.indexOf(wanted, at)
  return found < 0 ? text.length : found
}

/** The same for a pattern with the flag `g`. */
export function searchOr(text: string, pattern: RegExp, at: number): number {
  pattern.lastIndex = at
  return pattern.exec(text)?.index ?? text.length
}
