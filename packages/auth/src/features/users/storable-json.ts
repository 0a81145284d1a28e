/** PostgreSQL and JSON.stringify both walk JSON by recursion. */
const deepest = 200

/**
 * Why JSON cannot be stored; undefined: it can. PostgreSQL has no character U+0000 and no halves of
 * surrogate pairs.
 */
export function findUnstorable(json: unknown): string | undefined {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value: json, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next
    if (typeof value === 'string') {
      if (!isStorableText(value)) return 'has a character that cannot be stored'
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= deepest) return `is nested more than ${deepest} levels deep`
      for (const [key, inner] of Object.entries(value)) {
        if (!isStorableText(key)) return 'has a character that cannot be stored'
        if (typeof inner === 'string' || typeof inner === 'object') {
          waiting.push({ value: inner, depth: depth + 1 })
        }
      }
    }
  }
  return undefined
}

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}
