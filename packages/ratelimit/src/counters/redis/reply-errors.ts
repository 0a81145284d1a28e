import type { ReplyError } from './resp-reader.ts'

/** A server that says so has lost its place: a new connection may find the right one (6.2). */
const misplaced: ReadonlySet<string> = new Set(['READONLY', 'LOADING', 'MASTERDOWN'])

/** Before version 7 what a command in a script was answered stands in a message around it. */
const misplacedInScript = /: -(?:READONLY|LOADING|MASTERDOWN) /

export function isMisplaced({ code, message }: ReplyError): boolean {
  return misplaced.has(code) || (code === 'ERR' && misplacedInScript.test(message))
}

/** The counter is so high that Redis cannot add the hits: nothing was changed. */
export function isOverflow({ message }: ReplyError): boolean {
  return message.includes('would overflow')
}

/** The user may not do it, or the server or a proxy does not know it: nothing was done. */
export function isForbidden({ code, message }: ReplyError): boolean {
  return (
    code === 'NOPERM' ||
    /^ERR unknown command|can't run this command|unsupported command/i.test(message)
  )
}
