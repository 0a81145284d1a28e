import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface FaultyNetwork {
  /** The URL of the target through this network. */
  readonly url: string
  /** From now on requests arrive, but no response comes back. */
  cut(): void
  /** Closes the connections that were cut; new ones work. */
  restore(): void
}

/** A network between a program and its database. */
export async function openFaultyNetwork(t: TestContext, targetUrl: string): Promise<FaultyNetwork> {
  const target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    near.on('data', (bytes) => far.write(bytes))
    far.on('data', (bytes) => {
      if (!isCut) near.write(bytes)
    })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        // Across a cut network, neither end sees that the other has closed.
        if (!isCut) other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.after(() => {
    server.close()
    destroyAll()
  })
  const url = new URL(targetUrl)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cut() {
      isCut = true
    },
    restore() {
      isCut = false
      destroyAll()
    },
  }
}
