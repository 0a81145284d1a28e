import type { FastifyInstance, FastifyReply } from 'fastify'
import { securityHeaders } from './security-headers.ts'

/** A failure whose message is shown to the user as it is. */
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

/** A server sent a larger response than the console accepts. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** Sends every failure as `{"error": {"code", "message"}}`; unexpected errors are also logged. */
export function addErrorAnswers(server: FastifyInstance): void {
  server.setErrorHandler(
    async (error: Error & { statusCode?: number; code?: string }, _request, reply) => {
      if (error instanceof ConsoleError) {
        const { status, code, message } = error
        return reply.code(status).send({ error: { code, message } })
      }
      if (error instanceof BodyTooLargeError) {
        const message = `The response of a server is too large: ${error.message}.`
        return reply.code(502).send({ error: { code: 'upstream_too_large', message } })
      }
      const status = error.statusCode ?? 500
      if (status < 500) {
        return reply.code(status).send({ error: { code: 'bad_request', message: error.message } })
      }
      console.error('Unexpected error in the console:', error)
      const message = 'The console failed unexpectedly. See the terminal for details.'
      return reply.code(500).send({ error: { code: 'unexpected', message } })
    },
  )
}

/** Answers a request whose URL is invalid. No hook has run yet, so the response reveals nothing else. */
export function answerBadAddress(error: Error, _request: unknown, reply: FastifyReply): void {
  const status = 'statusCode' in error && error.statusCode === 414 ? 414 : 400
  const message = status === 414 ? 'The URL is too long.' : 'The URL is invalid.'
  reply
    .code(status)
    .headers(securityHeaders)
    .send({ error: { code: 'bad_address', message } })
}

/** Why a request is refused, and what the user can do about it. */
interface Refusal {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly message: string
  /** The target of the link that continues to the console. */
  readonly nextPath?: string | undefined
}

export const wrongHost: Refusal = {
  status: 421,
  code: 'wrong_host',
  title: 'Unknown host name',
  message:
    'The console does not accept requests for this host name. Open the address shown in the terminal, or start the console with --allowed-host and this name.',
}

export const crossSiteCall: Refusal = {
  status: 403,
  code: 'foreign_call',
  title: 'Access denied',
  message: 'Only the console’s own pages may call its API.',
}

export const noAccess: Refusal = {
  status: 401,
  code: 'no_access',
  title: 'Access denied',
  message:
    'Open the address that was printed in the terminal at start. It contains your access token.',
}

/**
 * The browser does not send the cookie with a navigation from another site. A click on a page of the console
 * makes it a same-site navigation.
 */
export function toCrossSiteRefusal(nextPath: string): Refusal {
  return {
    status: 403,
    code: 'from_elsewhere',
    title: 'Continue to the console?',
    message:
      'A link on another site brought you here. Continue only if you intended to open the console.',
    nextPath,
  }
}

/** The only file that is served without the token. */
export const refusalStylePath = '/assets/refusal.css'

/** Sends an HTML page to browsers, and JSON to other clients. */
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
