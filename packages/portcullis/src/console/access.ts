import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { foreignCall, noAccess, refusalStylePath, refuse, toCrossing, wrongHost } from './errors.ts'

interface AccessSettings {
  readonly token: string
  readonly allowedHosts: readonly string[]
}

/** Scripts of ours send it; a form or a link of a stranger's page cannot. */
const callHeader = 'x-portcullis-console'

const yearSeconds = 365 * 24 * 60 * 60

/**
 * Lets in whoever has the token: once in the address that the terminal shows, from then on in a cookie
 * that other sites' pages never send. Everybody else learns where to find it.
 */
export function guardAccess(
  server: FastifyInstance,
  { token, allowedHosts }: AccessSettings,
): void {
  const hosts = new Set(['localhost', ...allowedHosts.map((host) => host.toLowerCase())])
  // Cookies know no ports: two consoles on one machine must not overwrite each other's.
  const cookieName = `portcullis_${createHash('sha256').update(token).digest('hex').slice(0, 8)}`
  const cookie = `${cookieName}=${token}; Path=/; Max-Age=${yearSeconds}; HttpOnly; SameSite=Strict`

  server.addHook('onRequest', async (request, reply) => {
    if (!isOurName(request.headers.host ?? '', hosts)) return refuse(reply, wrongHost)
    const origin = toOrigin(request)
    if (origin === 'foreign') return refuse(reply, foreignCall)
    if (isStyleOfRefusal(request)) return
    const entry = parseEntry(request)
    if (entry !== undefined && isSame(entry.token, token)) {
      reply.header('set-cookie', cookie)
      // A redirect would still be the other site's visit.
      if (origin === 'link elsewhere') return refuse(reply, toCrossing(entry.path))
      return reply.redirect(entry.path, 303)
    }
    if (origin === 'link elsewhere') return refuse(reply, toCrossing(toOwnPath(request.url)))
    const shown = readCookie(request.headers.cookie ?? '', cookieName)
    if (shown === undefined || !isSame(shown, token)) return refuse(reply, noAccess)
  })
}

/**
 * A name that leads to us but is not ours is the work of somebody who moved it here, so that their page may
 * read ours (DNS rebinding). That cannot be done with a number.
 */
function isOurName(host: string, names: ReadonlySet<string>): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  return names.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}

type Origin = 'own' | 'link elsewhere' | 'foreign'

/** Who sent it: our own page, a link that somebody followed, or a page that has no business here. */
function toOrigin({ method, headers }: FastifyRequest): Origin {
  const site = headers['sec-fetch-site']
  if (method === 'GET' || method === 'HEAD') {
    // Undefined: no browser, or an old one, for which the cookie's own rules have to do.
    if (site === undefined || site === 'same-origin' || site === 'none') return 'own'
    const isVisit =
      headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
    if (!isVisit) return 'foreign'
    return site === 'same-site' ? 'own' : 'link elsewhere'
  }
  // Whatever changes something must come from a script of our own page.
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
  /** Where to go with the token put away. */
  readonly path: string
}

function parseEntry({ method, url }: FastifyRequest): Entry | undefined {
  if (method !== 'GET') return undefined
  const token = new URLSearchParams(url.split('?')[1]).get('token')
  return token === null ? undefined : { token, path: toOwnPath(url) }
}

/** Without the token, and never the address of another host. */
function toOwnPath(url: string): string {
  const base = 'http://console'
  const parsed = URL.parse(url, base)
  if (parsed === null || parsed.origin !== base) return '/'
  parsed.searchParams.delete('token')
  return parsed.pathname.replace(/^\/+/, '/') + parsed.search
}

/** In the same time whatever the guess, and whatever its length. */
function isSame(guess: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(guess), digest(token))
}

function readCookie(header: string, name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
