import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HttpHandler, sendText } from './http-listener.ts'
import type { Failures } from './json.ts'

interface OriginSettings {
  /** For example `https://app.example`; `*` for all. */
  readonly allowedOrigins: readonly string[]
  readonly failures: Failures
}

/**
 * Refuses requests that a browser sends for a page of another origin, unless that origin is allowed:
 * otherwise any page that a user opens could use up the limits of others.
 */
export function allowOrigins(
  handle: HttpHandler,
  { allowedOrigins, failures }: OriginSettings,
): HttpHandler {
  const allowed = new Set(allowedOrigins)
  return (request, response) => {
    if (!isCrossSite(request)) {
      handle(request, response)
      return
    }
    const { origin = '' } = request.headers
    if (!allowed.has('*') && !allowed.has(origin)) {
      failures.report(() => `error: refused a request from the origin ${shorten(origin)}: ${hint}`)
      sendText(response, 403, 'Forbidden\n')
      return
    }
    response.setHeader('access-control-allow-origin', origin === '' ? '*' : origin)
    response.setHeader('vary', 'origin')
    if (isPreflight(request)) answerPreflight(response)
    else handle(request, response)
  }
}

const hint = 'it is not in HTTP_ALLOWED_ORIGINS'

function shorten(origin: string): string {
  return JSON.stringify(origin.slice(0, 100))
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'content-type',
  })
  response.end()
}

/**
 * Whether a browser sends the request for a page of another origin. Browsers can reach internal addresses,
 * and send simple requests to them without a preflight. Other clients send neither header.
 */
export function isCrossSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin, host } = headers
  return origin !== undefined && URL.parse(origin)?.host !== host
}
