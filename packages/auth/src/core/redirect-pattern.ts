/**
 * A pattern of AUTH_URI_ALLOW_LIST. `*` is any run without `.` and `/`, `**` any run, `?` one
 * character but `.` and `/`, `[a-z]`, `[!a]`, `{a,b}`, and `\` makes a character plain.
 *
 * Scheme, authority and the rest are matched apart, so that nothing in an authority can borrow the
 * end of a trusted one.
 */
export interface RedirectPattern {
  readonly text: string
  matches(parts: RedirectParts): boolean
}

export interface RedirectParts {
  /** `https:` */
  readonly scheme: string
  /** `user@host:port`; empty where there is none. */
  readonly authority: string
  /** Path and query, without the fragment. */
  readonly rest: string
}

/** Thrown at the start, with what is wrong. */
export class RedirectPatternError extends Error {
  override readonly name = 'RedirectPatternError'
}

export function parseRedirectPattern(text: string): RedirectPattern {
  const { scheme, authority, rest } = splitRedirect(text)
  if (scheme === '') throw new RedirectPatternError(`${text} has no scheme, such as https://`)
  // A host alone stands for its root too: that is how URLs are written out.
  const matchers = [scheme, authority, rest === '' ? '{,/}' : rest].map((part) =>
    toRegExp(part, text),
  )
  return {
    text,
    matches: (parts) =>
      [parts.scheme, parts.authority, parts.rest].every(
        (part, index) => matchers[index]?.test(part) === true,
      ),
  }
}

export function splitRedirect(url: string): RedirectParts {
  const [, scheme = '', , authority = '', rest = ''] =
    /^([A-Za-z][A-Za-z0-9+.*-]*:)(\/\/([^/?#]*))?([^#]*)/.exec(url) ?? []
  return { scheme: scheme.toLowerCase(), authority: authority.toLowerCase(), rest }
}

const singles: Readonly<Record<string, string>> = { '?': '[^./]', ',': '|', '{': '(?:', '}': ')' }

function toRegExp(glob: string, whole: string): RegExp {
  let source = ''
  let depth = 0
  for (let at = 0; at < glob.length; at += 1) {
    const character = glob[at] ?? ''
    if (character === '\\') {
      at += 1
      source += toPlain(glob[at] ?? '\\')
    } else if (glob.startsWith('**', at)) {
      at += 1
      source += '.*'
    } else if (character === '*') {
      source += '[^./]*'
    } else if (character === '[') {
      const end = glob.indexOf(']', at + 2)
      if (end === -1) throw new RedirectPatternError(`${whole} has a [ without its ]`)
      const content = glob.slice(at + 1, end)
      source += `[${content.replace(/^!/, '^').replaceAll(/[\\\][]/g, '\\$&')}]`
      at = end
    } else if (character === ',' && depth === 0) {
      source += ','
    } else if (Object.hasOwn(singles, character)) {
      depth += character === '{' ? 1 : character === '}' ? -1 : 0
      source += singles[character]
    } else {
      source += toPlain(character)
    }
  }
  if (depth !== 0) throw new RedirectPatternError(`${whole} has braces that do not match`)
  return new RegExp(`^(?:${source})$`, 's')
}

function toPlain(character: string): string {
  return character.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
