import type { FastifyReply } from 'fastify'

/** Why somebody is not let in, and what they can do about it. */
export interface Refusal {
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
