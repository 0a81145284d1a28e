import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { toCode } from '@portcullis/service-kit/text/reason'
import type { FastifyInstance } from 'fastify'
import type { Connections } from './connections.ts'

interface Listeners {
  readonly url: string
  /** Stops accepting connections. */
  close(): void
}

interface Address {
  readonly host: string | undefined
  readonly port: number
}

/**
 * Listens on all addresses of the host. Fastify would open a separate HTTP server for the second
 * address of `localhost`, which would keep the configuration from the start after a reload.
 */
export async function openListeners(
  server: FastifyInstance,
  connections: Connections,
  { host, port }: Address,
): Promise<Listeners> {
  if (host !== 'localhost') {
    const url = await listenOnFirst(toListenHosts(host), (each) =>
      server.listen({ host: each, port }),
    )
    return { url, close: () => {} }
  }
  const [first, ...others] = await lookup(host, { all: true })
  const url = await server.listen({ host: first?.address ?? '127.0.0.1', port })
  const bound = server.server.address()
  const chosen = typeof bound === 'object' && bound !== null ? bound.port : port
  const more: Server[] = []
  for (const { address } of others) {
    const other = createServer({ allowHalfOpen: true }, (socket) => connections.adopt(socket))
    try {
      other.listen({ host: address, port: chosen })
      await once(other, 'listening')
      more.push(other)
    } catch {
      // One address is enough: a machine without IPv6 may still have the name ::1.
    }
  }
  return {
    url,
    close() {
      for (const other of more) other.close()
    },
  }
}

/** `::` accepts IPv4 connections as well, but some machines have no IPv6. */
const allInterfaces = ['::', '0.0.0.0'] as const

const unavailableCodes: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

/** The hosts to listen on, in order of preference. @param host the value of AUTH_API_HOST. */
export function toListenHosts(host: string | undefined): readonly string[] {
  return host === undefined ? allInterfaces : [host]
}

/** Listens on the first host that is available on this machine. */
export async function listenOnFirst<Bound>(
  hosts: readonly string[],
  listen: (host: string) => Promise<Bound>,
): Promise<Bound> {
  const [host = '', ...others] = hosts
  try {
    return await listen(host)
  } catch (error) {
    if (!unavailableCodes.has(toCode(error)) || others.length === 0) throw error
    return listenOnFirst(others, listen)
  }
}
