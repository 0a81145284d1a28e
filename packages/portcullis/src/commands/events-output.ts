import { styleText } from 'node:util'
import type { AuditEvent } from '../console/events/read-events.ts'
import { formatEventName, toActor, toSentence } from '../web/audit-sentences.ts'

type Format = Parameters<typeof styleText>[0]

/** Such as `2026-03-04 09:15:00  203.0.113.5      ada@example.com  Signed in`. */
export function toEventLine(event: AuditEvent, hasColor: boolean): string {
  const { entry, user, at } = event
  const style = (format: Format, text: string) =>
    hasColor ? styleText(format, text, { validateStream: false }) : text
  const isFailure = entry.payload.action === 'login_failed'
  const actor = user.id === '' ? undefined : toActor(entry, user.id)
  const account = isFailure && user.id === '' ? ' (no account)' : ''
  const sentence = toPrintable(toSentence(entry, user.id))
  return [
    style('dim', toLocalTime(at)),
    toPrintable(entry.ip_address || '-').padEnd(15),
    toPrintable(formatEventName(user.name) || user.id || '-') + account,
    style(isFailure ? 'red' : 'bold', sentence) + (actor ? ` by ${toPrintable(actor)}` : ''),
  ].join('  ')
}

/** The stored entry and its user, on one line. */
export function toEventJson({ entry, user }: AuditEvent): string {
  // JSON leaves some control characters as they are.
  return JSON.stringify({ ...entry, user }).replaceAll(/[\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Anyone can try to sign in with a name that contains control characters, which terminals would obey. */
function toPrintable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
}

function toLocalTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace('T', ' ')
}
