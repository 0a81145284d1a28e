import { once } from 'node:events'
import type { Server } from 'node:net'

/** @returns host and port, as written in URLs. */
export async function listenOn(server: Server, host: string, port: number): Promise<string> {
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('Not a TCP server')
  return `${toName(host)}:${address.port}`
}

function toName(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
