import type { FastifyInstance, FastifyReply } from 'fastify'
import { securityHeaders } from './security-headers.ts'

/** A failure that the page shows as it is. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}

/** The other side sent more than we are ready to hold in memory. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** Every failure is `{"error": {"code", "message"}}`; of our own mistakes the terminal tells more. */
export function addErrorAnswers(server: FastifyInstance): void {
  server.setErrorHandler(
    async (error: Error & { statusCode?: number; code?: string }, _request, reply) => {
      if (error instanceof ConsoleError) {
        const { status, code, message } = error
        return reply.code(status).send({ error: { code, message } })
      }
      if (error instanceof BodyTooLargeError) {
        const message = `A server that the console asked was cut off: ${error.message}.`
        return reply.code(502).send({ error: { code: 'upstream_too_large', message } })
      }
      const status = error.statusCode ?? 500
      if (status < 500) {
        return reply.code(status).send({ error: { code: 'bad_request', message: error.message } })
      }
      console.error('The console met an error:', error)
      const message = 'The console met an error of its own; the terminal says more.'
      return reply.code(500).send({ error: { code: 'unexpected', message } })
    },
  )
}

/** Of an address that is none. No hook has run yet: whoever it is learns nothing else. */
export function answerBadAddress(error: Error, _request: unknown, reply: FastifyReply): void {
  const status = 'statusCode' in error && error.statusCode === 414 ? 414 : 400
  const message = status === 414 ? 'The address is too long.' : 'The address cannot be read.'
  reply
    .code(status)
    .headers(securityHeaders)
    .send({ error: { code: 'bad_address', message } })
}

/** What to tell of whatever was thrown. */
export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Why somebody is not let in, and what they can do about it. */
interface Refusal {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly message: string
  /** Where a click leads on. */
  readonly nextPath?: string | undefined
}

export const wrongHost: Refusal = {
  status: 421,
  code: 'wrong_host',
  title: 'Another name, another door',
  message:
    'The console does not go by this name. Open the address that the terminal shows, or start the console with --allowed-host and this name.',
}

export const foreignCall: Refusal = {
  status: 403,
  code: 'foreign_call',
  title: 'The gate is closed',
  message: 'Only pages of the console itself may call it.',
}

export const noAccess: Refusal = {
  status: 401,
  code: 'no_access',
  title: 'The gate is closed',
  message:
    'Open the address that the terminal showed at the start: it has the token that lets you in.',
}

/**
 * Who comes from another site comes without the cookie, by the rules of cookies: one click on a page of ours
 * makes it our own visit.
 */
export function toCrossing(nextPath: string): Refusal {
  return {
    status: 403,
    code: 'from_elsewhere',
    title: 'Almost there',
    message: 'A page of another site led you here. If that is where you want to go, go on.',
    nextPath,
  }
}

/** The only file that whoever is refused may have. */
export const refusalStylePath = '/assets/refusal.css'

/** A page for people, JSON for programs. */
export function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, code, message } = refusal
  const { method, headers } = reply.request
  const wantsPage = (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html')
  if (!wantsPage) return reply.code(status).send({ error: { code, message } })
  return reply.code(status).type('text/html; charset=utf-8').send(toPage(refusal))
}

function toPage({ title, message, nextPath }: Refusal): string {
  const next =
    nextPath === undefined ? '' : `\n<p><a href="${toAttribute(nextPath)}">Open the console</a></p>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Portcullis</title>
<link rel="stylesheet" href="${refusalStylePath}">
</head>
<body>
<main>
<h1>${title}</h1>
<p>${message}</p>${next}
</main>
</body>
</html>
`
}

function toAttribute(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
