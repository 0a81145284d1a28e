import type { TaggedName } from '@portcullis/service-kit/metrics/tags'
import type { Environment } from '@portcullis/service-kit/settings/env'
import { toReason } from '@portcullis/service-kit/text/reason'

/** Replaces a name that matches a pattern by another name with tags. */
export interface Mogrifier {
  readonly pattern: RegExp
  /** The new name, in which `$1`… stand for the groups of the pattern. */
  readonly name: string
  /** The tags, whose values may contain `$1`… too. */
  readonly tags: ReadonlyMap<string, string>
}

/**
 * Clients choose parts of names. The time that a pattern such as `(.*)\.(.*)\.(.*)` takes grows steeply with
 * the number of dots, so names with more dots, which only an attacker would send, are not matched at all.
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

/** Replaces `$0`, `$1`, `${1}`… in a template. A missing group becomes an empty string. */
export function expandTemplate(template: string, groups: readonly (string | undefined)[]): string {
  return template.replaceAll(/\$(?:(\d+)|\{(\d+)\})/g, (_, plain?: string, braced?: string) => {
    return groups[Number(plain ?? braced)] ?? ''
  })
}

function toSafeName(name: string): string {
  return name.replaceAll(/[:|\p{Cc}]/gu, '_')
}

const prefix = 'DOG_STATSD_MOGRIFIER_'

/** Reads the three variables of each mogrifier in the list. */
export function toMogrifiers(
  names: readonly string[],
  env: Environment,
  fault: (message: string) => void,
): Mogrifier[] {
  const mogrifiers: Mogrifier[] = []
  for (const own of names) {
    const read = (part: string) => env[`${prefix}${own.toUpperCase()}_${part}`] ?? ''
    const pattern = read('PATTERN')
    const name = read('NAME')
    if (pattern === '') fault(`no PATTERN specified for mogrifier ${own}`)
    if (name === '') fault(`no NAME specified for mogrifier ${own}`)
    const tags = toTags(read('TAGS'))
    if (tags === undefined) fault(`TAGS of mogrifier ${own} must be written as tag:$1,tag2:text`)
    const compiled = compile(pattern, (reason) =>
      fault(`failed to compile pattern for ${own}: ${reason}`),
    )
    if (compiled && tags) mogrifiers.push({ pattern: compiled, name, tags })
  }
  return mogrifiers
}

/** Whether a variable of the environment describes a mogrifier. */
export function isMogrifierVariable(name: string): boolean {
  return name.startsWith(prefix) && /_(?:PATTERN|NAME|TAGS)$/.test(name)
}

function toTags(text: string): ReadonlyMap<string, string> | undefined {
  const tags = new Map<string, string>()
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const colon = pair.indexOf(':')
    if (colon < 1) return undefined
    tags.set(pair.slice(0, colon).trim(), pair.slice(colon + 1).trim())
  }
  return tags
}

function compile(pattern: string, fail: (reason: string) => void): RegExp | undefined {
  try {
    // A dot also matches line breaks, because names contain what clients send.
    return new RegExp(pattern, 's')
  } catch (error) {
    fail(toReason(error))
    return undefined
  }
}
