import type { ServerResponse } from 'node:http'
import type { Outcome } from './gate.ts'
import { isAppended } from './header-styles.ts'

/** Whether to serve the request; if not, it has been answered. For hosts whose responses are those of Node. */
export function sendOutcome({ headers, answer }: Outcome, response: ServerResponse): boolean {
  // A timeout may have answered it, or its client may have closed the connection.
  if (response.headersSent || response.destroyed) return false
  for (const [name, value] of headers) {
    if (isAppended(name)) response.appendHeader(name, value)
    else response.setHeader(name, value)
  }
  if (answer === undefined) return true
  response.statusCode = answer.status
  response.end(answer.body)
  return false
}
