import {
  isHostScheme,
  parseRedirectPattern,
  type RedirectPattern,
  splitRedirect,
} from '../../config/redirect-patterns.ts'

export interface RedirectSettings {
  readonly siteUrl: string
  readonly allowList: readonly string[]
  /** Whether scheme and port must also match those of the site. */
  readonly isStrict: boolean
}

/** Whether a redirect to a URL is permitted, and why. */
export type RedirectVerdict =
  | { readonly isPermitted: false; readonly reason: string }
  | {
      readonly isPermitted: true
      readonly reason: string
      /** The URL that was checked. No other spelling of it may be sent. */
      readonly target: string
    }

export interface Redirects {
  readonly siteUrl: string
  judge(url: string): RedirectVerdict
}

const loopback: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
/** These run or read something in the browser instead of opening a page of the app. */
const dangerousSchemes = ['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:']
const longestRedirect = 2_048
/** DNS does not allow longer names. */
const longestHost = 253

/** @throws {RedirectPatternError} */
export function createRedirects({ siteUrl, allowList, isStrict }: RedirectSettings): Redirects {
  const site = new URL(siteUrl)
  const patterns = allowList.map(parseRedirectPattern)
  const judge = (url: string): RedirectVerdict => {
    const flaw = findFlaw(url)
    if (flaw !== undefined) return refuse(flaw)
    const target = serialiseUrl(url)
    const parsed = new URL(target)
    const excess = findExcess(target, parsed)
    if (excess !== undefined) return refuse(excess)
    if (isOfSite(parsed, site, isStrict))
      return permit(target, `its host is the host of ${siteUrl}`)
    const strange = findStrangeHost(parsed) ?? findHiddenDots(target)
    if (strange !== undefined) return refuse(strange)
    const pattern = findPattern(target, patterns)
    if (pattern !== undefined) return permit(target, `it matches ${pattern.text}`)
    const listed =
      patterns.length === 0 ? 'the allow list is empty' : 'no pattern in the allow list matches'
    return refuse(`its host is not the host of ${siteUrl}, and ${listed}`)
  }
  return { siteUrl: serialiseUrl(siteUrl), judge }
}

function permit(target: string, reason: string): RedirectVerdict {
  return { isPermitted: true, reason, target }
}

function refuse(reason: string): RedirectVerdict {
  return { isPermitted: false, reason }
}

/** URLs that programs interpret differently are refused. */
function findFlaw(url: string): string | undefined {
  if (url.length > longestRedirect) return `it is longer than ${longestRedirect} characters`
  // oxlint-disable-next-line no-control-regex -- control characters are searched for on purpose
  if (/[\u0000-\u0020\u007f\\]/.test(url))
    return 'it contains spaces, control characters or backslashes'
  const parsed = URL.parse(url)
  if (parsed === null) return 'it is not an absolute URL'
  // Browsers resolve `https:example.com` relative to the page they are on.
  if (isHostScheme(parsed.protocol) && !/^[a-z]+:\/\/[^/]/i.test(url)) {
    return 'it is not an absolute URL: the scheme must be followed by // and a host'
  }
  if (parsed.username !== '' || /^[^/?#]*:\/\/[^/?#]*@/.test(url)) return 'it contains a user name'
  return undefined
}

/** Percent-encoding makes a URL longer. */
function findExcess(target: string, { hostname }: URL): string | undefined {
  if (target.length > longestRedirect) {
    return `it is longer than ${longestRedirect} characters when it is percent-encoded`
  }
  return hostname.length > longestHost
    ? `its host is longer than ${longestHost} characters`
    : undefined
}

export function isLoopback({ hostname }: URL): boolean {
  return loopback.includes(hostname)
}

/** @param protocol in lower case, with its colon. */
export function isDangerousScheme(protocol: string): boolean {
  return dangerousSchemes.includes(protocol)
}

function isOfSite(target: URL, site: URL, isStrict: boolean): boolean {
  if (target.hostname === '' || target.hostname !== site.hostname) return false
  if (!isStrict) return ['http:', 'https:', site.protocol].includes(target.protocol)
  const isSamePort = target.port === site.port || isLoopback(site)
  return target.protocol === site.protocol && isSamePort
}

function findStrangeHost(url: URL): string | undefined {
  const { protocol, hostname } = url
  if (isDangerousScheme(protocol)) return `the scheme ${protocol} is not permitted`
  if (isLoopback(url)) return undefined
  if (/^[\d.]+$/.test(hostname) || hostname.startsWith('[')) {
    return 'its host is an IP address, which is permitted only for loopback addresses'
  }
  const isWeb = protocol === 'http:' || protocol === 'https:'
  if (isWeb && !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(hostname)) {
    return 'its host contains invalid characters'
  }
  return undefined
}

/**
 * `serialiseUrl` has resolved `..` and `%2e%2e`. The remaining forms are interpreted by servers
 * only: some decode slashes, decode twice, or drop the text after `;` before they resolve dot
 * segments.
 */
function findHiddenDots(target: string): string | undefined {
  const [path = ''] = target.split(/[?#]/, 1)
  const segments = path
    .replaceAll(/%(?:25)*2e/gi, '.')
    .replaceAll(/%(?:25)*(?:2f|5c)/gi, '/')
    .replaceAll(/%(?:25)*3b/gi, ';')
    .split('/')
  const isDots = segments.some((segment) => /^\.\.?(?:;|$)/.test(segment))
  return isDots
    ? 'its path contains . or .. segments, which may lead out of the permitted path'
    : undefined
}

function findPattern(target: string, patterns: readonly RedirectPattern[]) {
  const parts = splitRedirect(target)
  return patterns.find((pattern) => pattern.matches(parts))
}

/**
 * Serialises a URL as browsers do: percent-encoded, so that it is ASCII and fits into a header;
 * with dot segments resolved; and with the host in lower case or in Punycode. A URL without a path
 * keeps none (`https://site.example#…`), because clients know the URL of the site in this form.
 * @param edit changes the URL before it is serialised.
 * @throws {TypeError} unless the text is an absolute URL.
 */
export function serialiseUrl(text: string, edit: (url: URL) => void = () => {}): string {
  const url = new URL(text)
  edit(url)
  return hasNoPath.test(text) ? url.href.replace(rootPath, '$1') : url.href
}

const hasNoPath = /^[a-z][a-z\d+.-]*:\/\/[^/\\?#]*(?:[?#]|$)/i
const rootPath = /^([^/?#]*:\/\/[^/?#]*)\/(?=[?#]|$)/
