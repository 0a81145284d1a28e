import type { ReplyError } from './resp-reader.ts'

/** A server with such an error has lost its role: a new connection may find the right server. */
const lostRole: ReadonlySet<string> = new Set(['READONLY', 'LOADING', 'MASTERDOWN'])

/** Before version 7, Redis wraps the error of a command in a script in another message. */
const lostRoleInScript = /: -(?:READONLY|LOADING|MASTERDOWN) /

export function hasLostItsRole({ code, message }: ReplyError): boolean {
  return lostRole.has(code) || (code === 'ERR' && lostRoleInScript.test(message))
}

/** The counter is too high for Redis to add the hits; nothing was changed. */
export function isOverflow({ message }: ReplyError): boolean {
  return message.includes('would overflow')
}

/** The user lacks the permission, or the server or a proxy does not know the command; nothing was changed. */
export function isForbidden({ code, message }: ReplyError): boolean {
  return (
    code === 'NOPERM' ||
    /^ERR unknown command|can't run this command|unsupported command/i.test(message)
  )
}
