import type { Server } from 'node:net'
import type { Host, Limits, OpenHost } from './host.ts'
import { closeServer, listen } from './listen.ts'
import { openProbe, type Probe } from './probe.ts'

/** A host in this process that speaks HTTP/1 over TCP. */
export function nodeHost(
  name: string,
  build: (probe: Probe) => Server | Promise<Server>,
  limits: Limits = {},
): Host {
  return {
    name,
    transport: 'HTTP/1',
    limits,
    async open(): Promise<OpenHost> {
      const probe = openProbe()
      const server = await build(probe)
      const port = await listen(server)
      return {
        origin: `http://127.0.0.1:${port}`,
        port,
        fetch: (input, init) => fetch(input, init),
        take: async () => probe.take(),
        connections: () =>
          new Promise((resolve, reject) => {
            server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
          }),
        async close() {
          await closeServer(server)
          probe.close()
        },
      }
    },
  }
}
