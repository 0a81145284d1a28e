import type { Endpoint } from '../network/socket.ts'

/** @throws Error with a message for the operator */
export function parseEndpoint(text: string): Endpoint {
  if (text.startsWith('/')) return { path: text }
  const found = /^(?:\[(?<literal>[^\]]+)\]|(?<name>[^[\]/@\s]+)):(?<port>\d+)$/.exec(text)
  const host = found?.groups?.['literal'] ?? found?.groups?.['name']
  const port = Number(found?.groups?.['port'])
  if (host === undefined || port < 1 || port > 65_535) {
    throw new Error(
      `${text || 'An empty string'} is not the address of a memcached node: use host:port`,
    )
  }
  return { host, port }
}
