import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** A network between two peers that can fail without notifying either. */
export interface TcpProxy {
  readonly url: string
  /** Connections stay open, but no data is forwarded. */
  freeze(): void
  /** Data of new connections is forwarded again. */
  thaw(): void
}

export async function openTcpProxy(t: TestContext, targetPort: number): Promise<TcpProxy> {
  let isFrozen = false
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const forward = (from: Socket, to: Socket) => {
    from.on('data', (chunk) => {
      if (!isFrozen) to.write(chunk)
    })
    from.on('close', () => to.destroy())
  }
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1')
    keep(near)
    keep(far)
    forward(near, far)
    forward(far, near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `127.0.0.1:${port}`,
    freeze() {
      isFrozen = true
    },
    thaw() {
      isFrozen = false
    },
  }
}
