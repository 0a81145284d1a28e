import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Secrets } from './secrets.ts'

const name = 'x-portcullis-audit'

/**
 * The console's audits of our own API send dozens of requests a second. With this they are not counted;
 * nobody can make it who does not have the console's token.
 */
export function toAuditHeaders({ consoleToken }: Secrets): Readonly<Record<string, string>> {
  const pass = createHmac('sha256', consoleToken).update('audits pass the limits').digest('hex')
  return { [name]: pass }
}

/** Tells the requests of others from those of the console's audits. */
export function createCountsRequest(secrets: Secrets): (request: IncomingMessage) => boolean {
  const pass = Buffer.from(toAuditHeaders(secrets)[name] ?? '')
  return ({ headers }) => {
    const shown = Buffer.from(String(headers[name] ?? ''))
    return shown.length !== pass.length || !timingSafeEqual(shown, pass)
  }
}
