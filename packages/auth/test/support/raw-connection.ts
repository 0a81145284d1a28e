import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

export interface RawConnection {
  readonly socket: Socket
  write(text: string): void
  /** All that came until the other side closed. */
  readonly received: Promise<string>
}

/** A client that says what it likes, as slowly as it likes. */
export async function openRawConnection(t: TestContext, url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  const received = text(socket)
  received.catch(() => {})
  return { socket, write: (part) => void socket.write(part), received }
}
