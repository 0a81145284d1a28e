import type { TaggedName } from '../tags.ts'

/** Turns a name that matches into another one with tags (reference 7.2). */
export interface Mogrifier {
  readonly pattern: RegExp
  /** With `$1`… for the groups of the pattern. */
  readonly name: string
  /** The values with `$1`… as well. */
  readonly tags: ReadonlyMap<string, string>
}

/**
 * Callers choose parts of names. A pattern such as `(.*)\.(.*)\.(.*)` tries the more ways the more
 * dots there are, so a name that only malice makes is not tried at all.
 */
const mostDots = 24

export function isTooDeepForPatterns(name: string): boolean {
  let dots = 0
  for (let at = name.indexOf('.'); at !== -1; at = name.indexOf('.', at + 1)) dots += 1
  return dots > mostDots
}

/** The first pattern that matches wins. */
export function mogrify(name: string, mogrifiers: readonly Mogrifier[]): TaggedName {
  if (mogrifiers.length === 0 || isTooDeepForPatterns(name)) return { name, tags: [] }
  for (const mogrifier of mogrifiers) {
    const groups = mogrifier.pattern.exec(name)
    if (groups === null) continue
    const tags = [...mogrifier.tags].map(
      ([key, value]) => [key, expandTemplate(value, groups)] as const,
    )
    return {
      name: toSafeName(expandTemplate(mogrifier.name, groups)),
      tags: tags.filter(([, value]) => value !== ''),
    }
  }
  return { name, tags: [] }
}

/** Puts `$0`, `$1`, `${1}`… of a template in. A group that is not there is empty. */
export function expandTemplate(template: string, groups: readonly (string | undefined)[]): string {
  return template.replaceAll(/\$(?:(\d+)|\{(\d+)\})/g, (_, plain?: string, braced?: string) => {
    return groups[Number(plain ?? braced)] ?? ''
  })
}

function toSafeName(name: string): string {
  return name.replaceAll(/[:|\p{Cc}]/gu, '_')
}
