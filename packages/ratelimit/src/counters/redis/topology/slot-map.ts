import type { TcpEndpoint } from '../../network/socket.ts'
import type { Reply, ReplyError } from '../connection/resp-reader.ts'

export interface SlotRange {
  readonly first: number
  readonly last: number
  readonly master: TcpEndpoint
}

/**
 * Parses the reply to CLUSTER SLOTS: per range the first slot, last slot, master and replicas; a node is
 * host, port and more. An empty host means the node that was queried.
 */
export function parseSlots(reply: Reply, askedHost: string): SlotRange[] {
  const ranges: SlotRange[] = []
  for (const range of Array.isArray(reply) ? reply : []) {
    if (!Array.isArray(range)) continue
    const [first, last, master] = range
    const [host, port] = Array.isArray(master) ? master : []
    if (typeof first !== 'number' || typeof last !== 'number' || typeof port !== 'number') continue
    const isKnown = typeof host === 'string' && host !== '' && host !== '?'
    ranges.push({ first, last, master: { host: isKnown ? host : askedHost, port } })
  }
  return ranges
}

/** `MOVED 3999 127.0.0.1:6381` and `ASK 3999 127.0.0.1:6381`; the host may be missing. */
export function parseRedirection(
  { message }: ReplyError,
  askedHost: string,
): { readonly slot: number; readonly endpoint: TcpEndpoint } | undefined {
  const found = /^(?:MOVED|ASK) (\d+) (.*):(\d+)$/.exec(message)
  if (!found) return undefined
  const [, slot, host, port] = found
  return { slot: Number(slot), endpoint: { host: host || askedHost, port: Number(port) } }
}
