import type { Match } from '../rules/model/rule.ts'

type Matches = readonly (Match | undefined)[]

/**
 * The matches that another limit of the same request names in its `replaces`; undefined when there
 * are none. Limits that are themselves replaced still replace; unlimited ones replace too, but are
 * not replaced.
 */
export function findReplaced(matches: Matches): ReadonlySet<Match> | undefined {
  if (!matches.some(hasReplaces)) return undefined
  const names = new Set(matches.flatMap((match) => match?.limit.replaces ?? []))
  const replaced = new Set<Match>()
  for (const match of matches) {
    if (match === undefined) continue
    const { name, unlimited } = match.limit
    if (name !== '' && !unlimited && names.has(name)) replaced.add(match)
  }
  return replaced
}

function hasReplaces(match: Match | undefined): boolean {
  return match !== undefined && match.limit.replaces.length > 0
}
