import type { IncomingMessage } from 'node:http'

/**
 * Whether a browser sends the request for a page of another origin. Browsers reach addresses that the
 * Internet does not, and send simple requests there without asking. Other clients send neither header.
 */
export function isCrossSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin, host } = headers
  return origin !== undefined && URL.parse(origin)?.host !== host
}
