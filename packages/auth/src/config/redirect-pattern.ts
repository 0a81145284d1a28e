import { domainToASCII } from 'node:url'
import { SettingError } from '../errors.ts'
import { compileGlob, type Glob } from './glob.ts'

/**
 * A pattern of AUTH_URI_ALLOW_LIST, which is a URL with globs. Scheme, authority and the remaining
 * part are matched separately, so that an untrusted authority cannot match by ending like a trusted
 * one.
 */
export interface RedirectPattern {
  readonly text: string
  matches(parts: RedirectParts): boolean
}

export interface RedirectParts {
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
