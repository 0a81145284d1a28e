import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  crossSiteCall,
  noAccess,
  refusalStylePath,
  refuse,
  toCrossSiteRefusal,
  wrongHost,
} from './errors.ts'

interface AccessSettings {
  readonly token: string
  readonly allowedHosts: readonly string[]
}

/** Sent by the console's own scripts. Forms and links on other sites cannot set it (CSRF protection). */
const callHeader = 'x-portcullis-console'

const yearSeconds = 365 * 24 * 60 * 60

/**
 * Admits requests with the token: on the first visit as part of the printed URL, then as a cookie that
 * other sites cannot make the browser send. Other requests get a page that explains how to sign in.
 */
export function guardAccess(
  server: FastifyInstance,
  { token, allowedHosts }: AccessSettings,
): void {
  const hosts = new Set(['localhost', ...allowedHosts.map((host) => host.toLowerCase())])
  // Cookies are shared between ports, so two consoles on one machine need different cookie names.
  const cookieName = `portcullis_${createHash('sha256').update(token).digest('hex').slice(0, 8)}`
  const toCookie = (value: string, maxAgeSeconds: number) =>
    `${cookieName}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`
  const cookie = toCookie(token, yearSeconds)

  server.addHook('onRequest', async (request, reply) => {
    if (!isOurName(request.headers.host ?? '', hosts)) return refuse(reply, wrongHost)
    const origin = toOrigin(request)
    if (origin === 'foreign') return refuse(reply, crossSiteCall)
    if (isStyleOfRefusal(request)) return
    const entry = parseEntry(request)
    if (entry !== undefined && isSame(entry.token, token)) {
      reply.header('set-cookie', cookie)
      // A redirect would still count as a cross-site navigation, without the cookie.
      if (origin === 'link elsewhere') return refuse(reply, toCrossSiteRefusal(entry.path))
      return reply.redirect(entry.path, 303)
    }
    if (origin === 'link elsewhere')
      return refuse(reply, toCrossSiteRefusal(toOwnPath(request.url)))
    const shown = readCookie(request.headers.cookie ?? '', cookieName)
    if (shown === undefined || !isSame(shown, token)) return refuse(reply, noAccess)
  })
  // Signs out: scripts cannot delete the cookie. The token itself stays valid.
  server.delete('/api/session', async (_request, reply) =>
    reply.header('set-cookie', toCookie('', 0)).code(204).send(),
  )
}

/**
 * Accepts only known host names, to prevent DNS rebinding: an attacker can point a name of their own at this
 * server to read its pages. IP addresses are safe, because an attacker cannot redirect those.
 */
function isOurName(host: string, names: ReadonlySet<string>): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return names.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}

type Origin = 'own' | 'link elsewhere' | 'foreign'

/** Classifies the sender: the console's own page, a link on another site, or a foreign script or form. */
function toOrigin({ method, headers }: FastifyRequest): Origin {
  const site = headers['sec-fetch-site']
  if (method === 'GET' || method === 'HEAD') {
    // Undefined: not a browser, or an old one; then the SameSite attribute of the cookie has to suffice.
    if (site === undefined || site === 'same-origin' || site === 'none') return 'own'
    const isVisit =
      headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
    if (!isVisit) return 'foreign'
    return site === 'same-site' ? 'own' : 'link elsewhere'
  }
  // Requests that change something must come from a script of the console's own page.
  if (site !== undefined && site !== 'same-origin') return 'foreign'
  const { origin } = headers
  if (origin !== undefined && URL.parse(origin)?.host !== headers.host) return 'foreign'
  return headers[callHeader] === undefined ? 'foreign' : 'own'
}

function isStyleOfRefusal({ method, url }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && url === refusalStylePath
}

interface Entry {
  readonly token: string
  /** The address to redirect to, without the token. */
  readonly path: string
}

function parseEntry({ method, url }: FastifyRequest): Entry | undefined {
  if (method !== 'GET') return undefined
  const token = new URLSearchParams(url.split('?')[1]).get('token')
  return token === null ? undefined : { token, path: toOwnPath(url) }
}

/** Removes the token; never returns the address of another host. */
function toOwnPath(url: string): string {
  const base = 'http://console'
  const parsed = URL.parse(url, base)
  if (parsed === null || parsed.origin !== base) return '/'
  parsed.searchParams.delete('token')
  return parsed.pathname.replace(/^\/+/, '/') + parsed.search
}

/** Compares in constant time, regardless of the length of the guess. */
function isSame(guess: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(guess), digest(token))
}

function readCookie(header: string, name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
