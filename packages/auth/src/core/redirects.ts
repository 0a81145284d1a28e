import { parseRedirectPattern, type RedirectPattern, splitRedirect } from './redirect-pattern.ts'

export interface RedirectSettings {
  readonly siteUrl: string
  readonly allowList: readonly string[]
  /** Whether scheme and port must be the site's too. */
  readonly isStrict: boolean
}

/** Why a URL may be redirected to, or why not. */
export interface RedirectVerdict {
  readonly isPermitted: boolean
  readonly reason: string
}

export interface Redirects {
  readonly siteUrl: string
  judge(url: string): RedirectVerdict
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** @throws {RedirectPatternError} */
export function createRedirects({ siteUrl, allowList, isStrict }: RedirectSettings): Redirects {
  const site = new URL(siteUrl)
  const patterns = allowList.map(parseRedirectPattern)
  const judge = (url: string): RedirectVerdict => {
    const flaw = findFlaw(url)
    if (flaw !== undefined) return refuse(flaw)
    const target = new URL(url)
    if (isOfSite(target, site, isStrict)) return permit(`it is on the host of ${siteUrl}`)
    const strange = findStrangeHost(target)
    if (strange !== undefined) return refuse(strange)
    const pattern = findPattern(url, patterns)
    if (pattern !== undefined) return permit(`it matches ${pattern.text}`)
    const listed = patterns.length === 0 ? 'the allow list is empty' : 'no pattern of it matches'
    return refuse(`it is not on the host of ${siteUrl}, and ${listed}`)
  }
  return { siteUrl, judge }
}

function permit(reason: string): RedirectVerdict {
  return { isPermitted: true, reason }
}

function refuse(reason: string): RedirectVerdict {
  return { isPermitted: false, reason }
}

/** Browsers read more into some texts than others: what can be read in two ways is refused. */
function findFlaw(url: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\u0000-\u0020\u007f\\]/.test(url)) return 'it has spaces, control characters or backslashes'
  if (!URL.canParse(url)) return 'it is not a whole URL'
  if (/^[^/?#]*:\/\/[^/?#]*@/.test(url)) return 'it has a user name'
  return undefined
}

function isOfSite(target: URL, site: URL, isStrict: boolean): boolean {
  if (target.hostname === '' || target.hostname !== site.hostname) return false
  if (!isStrict) return ['http:', 'https:', site.protocol].includes(target.protocol)
  const isSamePort = target.port === site.port || loopback.has(site.hostname)
  return target.protocol === site.protocol && isSamePort
}

function findStrangeHost({ protocol, hostname }: URL): string | undefined {
  if (['javascript:', 'data:', 'vbscript:', 'file:', 'blob:', 'about:'].includes(protocol)) {
    return `the scheme ${protocol} runs or shows what it names`
  }
  if (loopback.has(hostname)) return undefined
  if (/^[\d.]+$/.test(hostname) || hostname.startsWith('[')) {
    return 'its host is a number, and only those of this machine may be'
  }
  const isWeb = protocol === 'http:' || protocol === 'https:'
  if (isWeb && !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(hostname)) {
    return 'its host has characters that no host has'
  }
  return undefined
}

/** As written and as URLs are written out, which may differ in a slash or in letter case. */
function findPattern(url: string, patterns: readonly RedirectPattern[]) {
  const written = splitRedirect(url)
  const host = splitRedirect(new URL(url).href)
  return patterns.find((pattern) =>
    pattern.matches({ ...written, authority: host.authority || written.authority }),
  )
}
