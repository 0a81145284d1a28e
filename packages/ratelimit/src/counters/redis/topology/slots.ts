import type { TcpEndpoint } from '../../network/socket.ts'
import type { Reply, ReplyError } from '../connection/resp-reader.ts'

export const slotCount = 16_384
const OPEN = 123
const CLOSE = 125

const table = new Uint16Array(256)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  table[byte] = crc
}

const scratch = Buffer.allocUnsafe(4096)

/**
 * The hash slot of the counter `<key><suffix>` in a Redis Cluster: CRC16 (XMODEM) of the name, or of
 * the part between its first `{` and the next `}` if that is not empty.
 * @param suffix - the window, or its replacement in the name of a sliding counter
 */
export function slotOf(key: string, suffix: number | string): number {
  const needed = key.length * 3 + 20
  const bytes = needed > scratch.length ? Buffer.allocUnsafe(needed) : scratch
  let end = bytes.write(key, 0)
  end += bytes.write(`${suffix}`, end)
  if (key.includes('{')) {
    const open = bytes.indexOf(OPEN)
    const close = bytes.indexOf(CLOSE, open)
    if (close > open + 1 && close < end) return toSlot(bytes, open + 1, close)
  }
  return toSlot(bytes, 0, end)
}

function toSlot(bytes: Buffer, start: number, end: number): number {
  let crc = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    crc = ((crc << 8) & 0xffff) ^ (table[((crc >> 8) ^ byte) & 0xff] ?? 0)
  }
  return crc & (slotCount - 1)
}

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
