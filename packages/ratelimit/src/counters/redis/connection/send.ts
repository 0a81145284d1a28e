import { type Increment, StoreError } from '../../counter-store.ts'
import { refundScript, type Script } from '../scripts.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { expected } from './reply-queue.ts'

/** The error that caused the command to be sent again; empty for the first attempt. */
export type Cause = '' | 'MOVED' | 'ASK' | 'NOSCRIPT'

/** Fails the call when the connection is not usable. */
export function isUsable(connection: Connection | undefined, call: Call): connection is Connection {
  if (connection === undefined) {
    call.fail(new StoreError('Redis Cluster: no node has the slot of this counter now'))
    return false
  }
  const refusal = connection.refuse()
  if (refusal === undefined) return true
  call.fail(refusal)
  return false
}

export function read(connection: Connection, call: Call, increment: Increment, cause: Cause): void {
  if (cause === 'ASK') sendAsking(connection)
  if (increment.overlapMs > 0) connection.commands.readWindows(increment)
  else connection.commands.read(increment.key, increment.window)
  connection.expect(expected.value, call, increment)
}

export function refund(
  connection: Connection,
  call: Call,
  increment: Increment,
  cause: Cause,
): void {
  // Always send the text: a user with the permission for EVAL may lack the one for EVALSHA.
  startScript(connection, refundScript, 1, 1, cause === 'ASK' ? cause : 'NOSCRIPT')
  connection.commands.addName(increment)
  connection.commands.addNumber(increment.hits)
  connection.expect(expected.value, call, increment)
}

/**
 * Uses the SHA-1 if this connection has sent the text before, because the server has it in its cache then.
 */
export function startScript(
  connection: Connection,
  script: Script,
  keys: number,
  values: number,
  cause: Cause,
): void {
  if (cause === 'ASK') sendAsking(connection)
  const isKnown = (cause === '' || cause === 'MOVED') && connection.scripts.has(script)
  if (!isKnown) connection.scripts.add(script)
  connection.commands.startScript(isKnown ? script.byName : script.byText, keys, values)
}

/** While a slot is being migrated, its new node accepts commands only after ASKING. */
export function sendAsking(connection: Connection): void {
  connection.commands.command(['ASKING'])
  connection.expectNothing()
}
