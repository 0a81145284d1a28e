import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'

export interface RawConnection {
  readonly socket: Socket
  write(text: string): void
  /** Everything received until the server closed the connection. */
  readonly received: Promise<string>
}

/** A TCP client for raw and slow requests. */
export async function openRawConnection(t: TestContext, url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  const received = text(socket)
  received.catch(() => {})
  return { socket, write: (part) => void socket.write(part), received }
}
