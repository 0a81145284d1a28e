import type { ServerHttp2Session } from 'node:http2'
import type { Server } from 'node:net'
import { createSelfSigned } from '../../../../../examples/graphql/self-signed.ts'
import type { Host, Limits, OpenHost } from './host.ts'
import { openHttp2Fetch } from './http2-fetch.ts'
import { closeServer, listen } from './listen.ts'
import { openProbe, type Probe } from './probe.ts'

export const certificate: { key: string; cert: string } = createSelfSigned('localhost')

/** A host in this process that speaks HTTP/2. */
export function http2Host(
  name: string,
  scheme: 'http' | 'https',
  build: (probe: Probe) => Server | Promise<Server>,
  limits: Limits = {},
): Host {
  return {
    name,
    transport: 'HTTP/2',
    limits: { noStatusText: 'HTTP/2 has none', ...limits },
    async open(): Promise<OpenHost> {
      const probe = openProbe()
      const server = await build(probe)
      const sessions = new Set<ServerHttp2Session>()
      server.on('session', (session: ServerHttp2Session) => {
        sessions.add(session)
        session.on('close', () => sessions.delete(session))
      })
      const port = await listen(server)
      const origin = `${scheme}://localhost:${port}`
      const client = openHttp2Fetch(origin, certificate.cert)
      return {
        origin,
        port,
        fetch: client.fetch,
        take: async () => probe.take(),
        async close() {
          client.close()
          for (const session of sessions) session.destroy()
          await closeServer(server)
          probe.close()
        },
      }
    },
  }
}
