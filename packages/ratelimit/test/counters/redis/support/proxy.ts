import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface Proxy {
  readonly port: number
  readonly url: string
  /** The chunks that clients sent. */
  readonly sent: Buffer[]
  /** Changes the bytes from the server; `undefined` cuts the connection. */
  onAnswer: (bytes: Buffer) => Buffer | undefined
  /** The number of connected clients. */
  readonly clients: number
  /** Closes the connections of all clients. */
  cut(): void
  /** The port that new clients are connected to. */
  target: number
}

/** A proxy between a store and a real Redis that records the traffic and can disturb it. */
export async function openProxy(t: Pick<TestContext, 'after'>, target: number): Promise<Proxy> {
  const clients = new Set<Socket>()
  const sent: Buffer[] = []
  const server = createServer((client) => {
    clients.add(client)
    const upstream = connect({ host: '127.0.0.1', port: proxy.target, noDelay: true })
    const end = () => {
      clients.delete(client)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    client.setNoDelay(true)
    client.on('data', (bytes) => {
      sent.push(bytes)
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      const changed = proxy.onAnswer(bytes)
      if (changed) client.write(changed)
      else end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const proxy: Proxy = {
    port,
    url: `127.0.0.1:${port}`,
    sent,
    onAnswer: (bytes) => bytes,
    get clients() {
      return clients.size
    },
    cut: () => {
      for (const client of clients) client.destroy()
    },
    target,
  }
  t.after(() => {
    proxy.cut()
    server.close()
  })
  return proxy
}
