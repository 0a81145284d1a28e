/** A value of a rule with at least one `*`, each of which matches any text, including an empty one. */
export interface Wildcard {
  /** The text before the first star. */
  readonly prefix: string
  /** The texts between stars, without empty ones. */
  readonly middles: readonly string[]
  /** The text after the last star. */
  readonly suffix: string
  /** The texts do not overlap, so a shorter value cannot match. */
  readonly minLength: number
}

export function isWildcard(value: string): boolean {
  return value.includes('*')
}

export function toWildcard(pattern: string): Wildcard {
  const first = pattern.indexOf('*')
  const last = pattern.lastIndexOf('*')
  if (first === -1) throw new TypeError(`No star in ${JSON.stringify(pattern)}`)
  const prefix = pattern.slice(0, first)
  const suffix = pattern.slice(last + 1)
  const middles = pattern.slice(first, last).split('*').filter(Boolean)
  const minLength = prefix.length + suffix.length + middles.join('').length
  return { prefix, middles, suffix, minLength }
}

export function matchesWildcard(wildcard: Wildcard, value: string): boolean {
  const { prefix, middles, suffix, minLength } = wildcard
  if (value.length < minLength || !value.startsWith(prefix)) return false
  if (suffix !== '' && !value.endsWith(suffix)) return false
  // Matching each middle at its first occurrence leaves the most room for the next, so no backtracking
  // is needed.
  const end = value.length - suffix.length
  let at = prefix.length
  for (const middle of middles) {
    const found = value.indexOf(middle, at)
    if (found === -1) return false
    at = found + middle.length
    if (at > end) return false
  }
  return true
}
