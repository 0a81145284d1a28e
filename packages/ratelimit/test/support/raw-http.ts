import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

/** Writes the parts unchanged and resolves to everything that the server sends. */
export async function exchangeRaw(
  t: TestContext,
  port: number,
  ...parts: readonly (string | Uint8Array)[]
): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  for (const part of parts) socket.write(part)
  return text(socket)
}
