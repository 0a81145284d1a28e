import { type Increment, StoreError } from '../counter-store.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { expected } from './reply-queue.ts'
import { refundScript, type Script } from './scripts.ts'

/** What was answered to the same command before, if it is not sent for the first time. */
export type Cause = '' | 'MOVED' | 'ASK' | 'NOSCRIPT'

/** Fails the call when the connection is not. */
export function isUsable(connection: Connection | undefined, call: Call): connection is Connection {
  if (connection === undefined) {
    call.fail(new StoreError('Redis Cluster: no node holds the slot of this counter now'))
    return false
  }
  const refusal = connection.refuse()
  if (refusal === undefined) return true
  call.fail(refusal)
  return false
}

export function read(connection: Connection, call: Call, increment: Increment, cause: Cause): void {
  if (cause === 'ASK') ask(connection)
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
  // Always as a text: who was allowed EVAL for refunds may not have been allowed EVALSHA.
  startScript(connection, refundScript, 1, 1, cause === 'ASK' ? cause : 'NOSCRIPT')
  connection.commands.addName(increment)
  connection.commands.addNumber(increment.hits)
  connection.expect(expected.value, call, increment)
}

/** By name where this connection sent the text before: the server, or one behind it, has it then. */
export function startScript(
  connection: Connection,
  script: Script,
  keys: number,
  values: number,
  cause: Cause,
): void {
  if (cause === 'ASK') ask(connection)
  const isKnown = (cause === '' || cause === 'MOVED') && connection.scripts.has(script)
  if (!isKnown) connection.scripts.add(script)
  connection.commands.startScript(isKnown ? script.byName : script.byText, keys, values)
}

/** A slot that is moving answers at its new node only to who says that it was sent there. */
export function ask(connection: Connection): void {
  connection.commands.command(['ASKING'])
  connection.expectNothing()
}
