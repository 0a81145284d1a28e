import { domainToASCII } from 'node:url'
import { SettingError } from '../errors.ts'
import { compileGlob, type Glob } from './glob.ts'

/**
 * A pattern of AUTH_URI_ALLOW_LIST: a URL that is a glob. Scheme, authority and the rest are matched
 * separately, so that nothing in an authority can borrow the end of a trusted one.
 */
export interface RedirectPattern {
  readonly text: string
  matches(parts: RedirectParts): boolean
}

export interface RedirectParts {
  /** `https:` */
  readonly scheme: string
  /** `host:port`; undefined where no `//` follows the scheme. */
  readonly authority: string | undefined
  /** Path and query, without the fragment. */
  readonly rest: string
}

/** Schemes whose URLs have a host and a path in any case, be it `/`. */
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

/** Hosts are compared as URLs are written out: Punycode, and no port that is the scheme's own. */
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
  throw new SettingError(`${text} must name its host in ASCII letters (xn--…)`)
}

function toRestGlob(scheme: string, authority: string, rest: string): string {
  // `myapp://**` is any URL of the scheme, and not only one without a path.
  if (rest === '' && /(?<!\\)\*\*$/.test(authority)) return '**'
  if (isHostScheme(scheme)) return rest.startsWith('/') ? rest : `/${rest}`
  // A host alone stands for its root too.
  return rest === '' ? '{,/}' : rest
}

/** @param url as `serialiseUrl` writes it. */
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
 * Letters that URLs have percent-encoded, as letters, so that `?` and `[ä-ü]` of a pattern stand for one
 * of them. Everything that has a meaning in a URL is ASCII and stays as it is.
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
