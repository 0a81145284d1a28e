/** A few of many texts, quoted, for a sentence. */
export function toShortList(texts: readonly string[], most = 5): string {
  const shown = texts.slice(0, most).map((text) => `'${text}'`)
  const rest = texts.length - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}
