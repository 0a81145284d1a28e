import { domainToASCII } from 'node:url'
import { SettingError } from '../errors.ts'

/**
 * A pattern of AUTH_URI_ALLOW_LIST, which is a URL with globs. Scheme, authority and the remaining
 * part are matched separately, so that an untrusted authority cannot match by ending like a trusted
 * one.
 */
export interface RedirectPattern {
  readonly text: string
  matches(parts: RedirectParts): boolean
}

interface RedirectParts {
  /** `https:` */
  readonly scheme: string
  /** `host:port`. Undefined if the scheme is not followed by `//`. */
  readonly authority: string | undefined
  /** Path and query without the fragment. */
  readonly rest: string
}

/** Schemes whose URLs always have a host and a path, which may be `/`. */
const hostSchemes: ReadonlySet<string> = new Set([
  ...['http:', 'https:', 'ws:', 'wss:', 'ftp:', 'file:'],
])

/** Whether a URL of this scheme always has `//`, a host and a path. */
export function isHostScheme(scheme: string): boolean {
  return hostSchemes.has(scheme)
}

/** @throws {SettingError} */
export function parseRedirectPattern(text: string): RedirectPattern {
  const { scheme, authority, rest } = splitUrl(text)
  if (scheme === '') throw new SettingError(`${text} has no scheme, such as https://`)
  const globs = {
    scheme: compilePart(scheme, text),
    authority:
      authority === undefined ? undefined : compilePart(toHostGlob(scheme, authority, text), text),
    rest: compilePart(toRestGlob(scheme, authority ?? '', toReadable(rest)), text),
  }
  return {
    text,
    matches: (parts) =>
      globs.scheme.matches(parts.scheme) &&
      (globs.authority === undefined || parts.authority === undefined
        ? globs.authority === parts.authority
        : globs.authority.matches(parts.authority)) &&
      globs.rest.matches(parts.rest),
  }
}

function compilePart(glob: string, text: string): Glob {
  try {
    return compileGlob(glob)
  } catch (error) {
    throw error instanceof SettingError ? new SettingError(`${text} ${error.message}`) : error
  }
}

/**
 * Hosts are compared in the serialised form of URLs: in Punycode and without the default port of
 * the scheme.
 */
function toHostGlob(scheme: string, authority: string, text: string): string {
  if (!isHostScheme(scheme)) return toReadable(authority)
  const own = scheme === 'https:' ? /:443$/ : /:80$/
  const labels = authority.replace(own, '').split('.')
  return labels.map((label) => toAsciiLabel(label, text)).join('.')
}

function toAsciiLabel(label: string, text: string): string {
  if (!/[^ -~]/.test(label)) return label
  const ascii = /[*?[\]{},\\]/.test(label) ? '' : domainToASCII(label)
  if (ascii !== '') return ascii
  throw new SettingError(`${text} must have a host in ASCII letters (xn--…)`)
}

function toRestGlob(scheme: string, authority: string, rest: string): string {
  // `myapp://**` matches any URL of the scheme, also one with a path.
  if (rest === '' && /(?<!\\)\*\*$/.test(authority)) return '**'
  if (isHostScheme(scheme)) return rest.startsWith('/') ? rest : `/${rest}`
  // A pattern that is only a host also matches its root path.
  return rest === '' ? '{,/}' : rest
}

/** @param url in the form that `serialiseUrl` returns. */
export function splitRedirect(url: string): RedirectParts {
  const { scheme, authority, rest } = splitUrl(url)
  const isRooted = !isHostScheme(scheme) || rest.startsWith('/')
  return {
    scheme,
    authority: authority && toReadable(authority),
    rest: toReadable(isRooted ? rest : `/${rest}`),
  }
}

function splitUrl(url: string): RedirectParts {
  const [, scheme = '', , authority, rest = ''] =
    /^([A-Za-z][A-Za-z0-9+.*-]*:)(\/\/([^/?#]*))?([^#]*)/.exec(url) ?? []
  return { scheme: scheme.toLowerCase(), authority: authority?.toLowerCase(), rest }
}

/**
 * Decodes percent-encoded non-ASCII letters, so that `?` and `[ä-ü]` in a pattern match one letter.
 * Characters with a special meaning in URLs are ASCII and stay encoded.
 */
function toReadable(text: string): string {
  return text.replaceAll(/(?:%[89a-f][\da-f])+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes)
    } catch {
      return bytes
    }
  })
}

interface Glob {
  matches(text: string): boolean
  /** Like `matches`, and also returns the number of glob nodes visited. */
  run(text: string): { readonly isMatch: boolean; readonly steps: number }
}

type Accepts = (character: string) => boolean

/** A node of a parsed glob. */
type GlobNode =
  | { readonly kind: 'one'; readonly accepts: Accepts }
  | { readonly kind: 'any number'; readonly accepts: Accepts }
  | { readonly kind: 'go to'; readonly targets: number[] }

const isAny: Accepts = () => true
/** `*` and `?` do not cross the labels of a host or the segments of a path. */
const isNoSeparator: Accepts = (character) => character !== '.' && character !== '/'

/**
 * `*` matches any run without `.` and `/`, `**` any run, `?` one character except `.` and `/`,
 * `[a-z]` and `[!a]` one character of a set, `{a,b}` one of several alternatives; `\` makes the
 * next character literal.
 *
 * All alternatives are followed at the same time, so the work is at most the length of the text
 * times the length of the glob. A backtracking regular expression needs quadratic time for a glob
 * with two `**`.
 * @throws {SettingError} with a message that completes a sentence starting with the glob.
 */
export function compileGlob(glob: string): Glob {
  const nodes = parseNodes(glob)
  const run = (text: string) => follow(nodes, text)
  return { run, matches: (text) => run(text).isMatch }
}

function parseNodes(glob: string): readonly GlobNode[] {
  const characters = [...glob]
  const nodes: GlobNode[] = []
  let at = 0

  const readSequence = (isAlternative: boolean): void => {
    while (at < characters.length) {
      const character = characters[at] ?? ''
      if (isAlternative && (character === ',' || character === '}')) return
      at += 1
      if (character === '{') readAlternatives()
      else nodes.push(parseNode(character))
    }
  }

  const readAlternatives = (): void => {
    const starts: number[] = []
    const ends: number[][] = []
    nodes.push({ kind: 'go to', targets: starts })
    do {
      starts.push(nodes.length)
      readSequence(true)
      const end: number[] = []
      ends.push(end)
      nodes.push({ kind: 'go to', targets: end })
      at += 1
    } while (characters[at - 1] === ',')
    if (characters[at - 1] !== '}') throw new SettingError('has unbalanced braces')
    for (const end of ends) end.push(nodes.length)
  }

  const parseNode = (character: string): GlobNode => {
    if (character === '}') throw new SettingError('has unbalanced braces')
    if (character === '*') {
      if (characters[at] !== '*') return { kind: 'any number', accepts: isNoSeparator }
      at += 1
      return { kind: 'any number', accepts: isAny }
    }
    if (character === '?') return { kind: 'one', accepts: isNoSeparator }
    if (character === '[') {
      const end = characters.indexOf(']', at + 1)
      if (end === -1) throw new SettingError('has a [ without a closing ]')
      const set = characters.slice(at, end)
      at = end + 1
      return { kind: 'one', accepts: readSet(set) }
    }
    if (character !== '\\' || at === characters.length) return toLiteral(character)
    at += 1
    return toLiteral(characters[at - 1] ?? '')
  }

  readSequence(false)
  return nodes
}

function toLiteral(literal: string): GlobNode {
  return { kind: 'one', accepts: (character) => character === literal }
}

/** @param set the characters between the brackets. */
function readSet(set: readonly string[]): Accepts {
  const isNegated = set.length > 1 && (set[0] === '!' || set[0] === '^')
  const members = isNegated ? set.slice(1) : set
  const ranges: (readonly [number, number])[] = []
  for (let at = 0; at < members.length; at += 1) {
    const first = members[at] ?? ''
    const isRange = members[at + 1] === '-' && at + 2 < members.length
    const last = isRange ? (members[at + 2] ?? '') : first
    if (isRange) at += 2
    if (toCode(first) > toCode(last)) {
      throw new SettingError(`has the range ${first}-${last}, whose bounds are in the wrong order`)
    }
    ranges.push([toCode(first), toCode(last)])
  }
  return (character) => {
    const code = toCode(character)
    return ranges.some(([first, last]) => first <= code && code <= last) !== isNegated
  }
}

function toCode(character: string): number {
  return character.codePointAt(0) ?? 0
}

function follow(nodes: readonly GlobNode[], text: string): ReturnType<Glob['run']> {
  let steps = 0
  /** Adds a node and all nodes that are reachable from it without consuming a character. */
  const reach = (reached: Set<number>, start: number): void => {
    const waiting = [start]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (reached.has(at)) continue
      steps += 1
      reached.add(at)
      const node = nodes[at]
      if (node?.kind === 'any number') waiting.push(at + 1)
      else if (node?.kind === 'go to') waiting.push(...node.targets)
    }
  }
  let reached = new Set<number>()
  reach(reached, 0)
  for (const character of text) {
    const next = new Set<number>()
    for (const at of reached) {
      const node = nodes[at]
      if (node === undefined || node.kind === 'go to' || !node.accepts(character)) continue
      reach(next, node.kind === 'one' ? at + 1 : at)
    }
    if (next.size === 0) return { isMatch: false, steps }
    reached = next
  }
  return { isMatch: reached.has(nodes.length), steps }
}
