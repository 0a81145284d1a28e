import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface AccessSettings {
  readonly token: string
  readonly allowedHosts: readonly string[]
}

/** Scripts of ours send it; a form or a link of a stranger's page cannot. */
export const callHeader = 'x-portcullis-console'

const yearSeconds = 365 * 24 * 60 * 60

/**
 * Lets in whoever has the token: once in the address that the terminal shows, from then on in a cookie
 * that other sites' pages never send. Everybody else learns where to find it.
 */
export function guardAccess(
  server: FastifyInstance,
  { token, allowedHosts }: AccessSettings,
): void {
  const hosts = new Set(['localhost', '127.0.0.1', '[::1]', ...allowedHosts])
  // Cookies know no ports: two consoles on one machine must not overwrite each other's.
  const cookieName = `portcullis_${createHash('sha256').update(token).digest('hex').slice(0, 8)}`

  server.addHook('onRequest', async (request, reply) => {
    // A name that leads to us but is not ours is the work of somebody who moved it here (DNS rebinding).
    if (!hosts.has(withoutPort(request.headers.host ?? ''))) return refuse(reply, 421, wrongHost)
    if (isForeign(request)) return refuse(reply, 403, foreignCall)
    const shown = new URL(request.url, 'http://console').searchParams.get('token')
    if (shown !== null && request.method === 'GET' && isSame(shown, token)) {
      return letIn(reply, cookieName, token, withoutToken(request.url))
    }
    const cookie = readCookie(request.headers.cookie ?? '', cookieName)
    if (cookie === undefined || !isSame(cookie, token)) return refuse(reply, 401, noAccess)
  })
}

function letIn(reply: FastifyReply, name: string, token: string, url: string): FastifyReply {
  const attributes = `Path=/; Max-Age=${yearSeconds}; HttpOnly; SameSite=Strict`
  return reply.header('set-cookie', `${name}=${token}; ${attributes}`).redirect(url, 303)
}

function withoutToken(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://console')
  searchParams.delete('token')
  // Two slashes would lead to another host.
  const path = pathname.replace(/^\/+/, '/')
  return searchParams.size === 0 ? path : `${path}?${searchParams}`
}

/** Whatever changes something must come from a script of our own page. */
function isForeign({ method, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site === 'cross-site') return true
  if (method === 'GET' || method === 'HEAD') return false
  if (site !== undefined && site !== 'same-origin') return true
  const { origin } = headers
  if (origin !== undefined && URL.parse(origin)?.host !== headers.host) return true
  return headers[callHeader] === undefined
}

interface Refusal {
  readonly code: string
  readonly message: string
}

const wrongHost: Refusal = {
  code: 'wrong_host',
  message:
    'The console does not go by this name. Open the address that the terminal shows, or start it with --allowed-host.',
}
const foreignCall: Refusal = {
  code: 'foreign_call',
  message: 'Only pages of the console itself may call it.',
}
const noAccess: Refusal = {
  code: 'no_access',
  message:
    'Open the address that the terminal showed at the start: it has the token that lets you in.',
}

function refuse(reply: FastifyReply, status: number, { code, message }: Refusal): FastifyReply {
  const { request } = reply
  const wantsPage = request.method === 'GET' && request.headers.accept?.includes('text/html')
  if (!wantsPage) return reply.code(status).send({ error: { code, message } })
  return reply.code(status).type('text/html; charset=utf-8').send(toRefusalPage(message))
}

function toRefusalPage(message: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Portcullis console</title>
<link rel="stylesheet" href="/assets/refusal.css">
<main>
<h1>The gate is closed</h1>
<p>${message}</p>
</main>
</html>
`
}

/** In the same time whatever the guess, and whatever its length. */
function isSame(guess: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(guess), digest(token))
}

function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase()
}

function readCookie(header: string, name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}
