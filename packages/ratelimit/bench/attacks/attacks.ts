import { gzipSync } from 'node:zlib'
import { frameFlags, frameTypes, settingIds, toFrame, toSettings } from '../load/frames.ts'
import { toRequestMessage } from '../requests.ts'

/** The data that an attacker sends on one connection, and again on the next one after a cut. */
export interface Attack {
  readonly title: string
  /** Sent before anything else. */
  readonly settings?: Uint8Array
  /** The first frames of a connection. */
  readonly first?: () => Uint8Array
  /** Returns the n-th piece, which is sent as fast as possible, or undefined at the end. */
  readonly piece: (n: number) => Uint8Array | undefined
  /** Whether the attacker does not read the responses. */
  readonly isDeaf?: boolean
  readonly connections?: number
}

const endHeaders = frameFlags.endHeaders
const continuation = 9
const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

function toText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

function toBlock(extra: Readonly<Record<string, string>> = {}): Buffer {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'ratelimit',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...extra,
  }
  return Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [
      Buffer.from([0]),
      toText(name),
      toText(value),
    ]),
  )
}

function toMessage(content: Uint8Array, flag = 0): Buffer {
  const bytes = Buffer.alloc(5 + content.length)
  bytes[0] = flag
  bytes.writeUInt32BE(content.length, 1)
  bytes.set(content, 5)
  return bytes
}

/** HEADERS and as many DATA frames as the message needs. */
function toCall(id: number, message: Buffer, block = plainBlock): Buffer {
  const parts: Uint8Array[] = [toFrame(frameTypes.headers, endHeaders, id, block)]
  for (let at = 0; at < message.length; at += 16_384) {
    const isLast = at + 16_384 >= message.length
    const flags = isLast ? frameFlags.endStream : 0
    parts.push(toFrame(frameTypes.data, flags, id, message.subarray(at, at + 16_384)))
  }
  return Buffer.concat(parts)
}

function toReset(id: number): Uint8Array {
  return toFrame(frameTypes.rstStream, 0, id, Buffer.from([0, 0, 0, 8]))
}

const idOf = (n: number): number => 2 * n + 1
const plainBlock = toBlock()
const small = toMessage(
  toRequestMessage([
    [
      ['guest', 'attacker'],
      ['each-second', 'x'],
    ],
  ]),
)

/**
 * A `RateLimitRequest` with this number of descriptors, encoded by hand, because building 4 MiB of them takes
 * long.
 */
function toManyDescriptors(count: number): Buffer {
  const descriptor = Buffer.from([0x12, 8, 0x0a, 6, 0x0a, 1, 0x6b, 0x12, 1, 0x76])
  const domain = Buffer.from([0x0a, 5, ...Buffer.from('bench')])
  return toMessage(Buffer.concat([domain, Buffer.alloc(descriptor.length * count, descriptor)]))
}

const largest = toManyDescriptors(419_000)
const allowed = toManyDescriptors(500)
/** One descriptor with `hits_addend { value: 2^64 - 1 }`. */
const mostHits = toMessage(
  Buffer.concat([
    Buffer.from([0x0a, 5]),
    Buffer.from('bench'),
    Buffer.from([0x12, 45, 0x0a, 17, 0x0a, 5]),
    Buffer.from('guest'),
    Buffer.from([0x12, 8]),
    Buffer.from('attacker'),
    Buffer.from([0x0a, 11, 0x0a, 9]),
    Buffer.from('each-hour'),
    Buffer.from([0x1a, 11, 0x08, ...Array.from({ length: 9 }, () => 0xff), 0x01]),
  ]),
)
const hardValues = toMessage(
  toRequestMessage([
    [
      ['guest', `a b\r\n\u0000${'x'.repeat(1000)}`],
      ['each-hour', ' \t '],
    ],
  ]),
)
const bombTable = Buffer.concat([Buffer.from([0x40]), toText('x'), toText('v'.repeat(4000))])
const bomb = Buffer.concat([plainBlock, bombTable, Buffer.alloc(11_000, 0x80 | 62)])
const largeBlock = toBlock({ 'x-large': 'x'.repeat(90_000) })
const gzipBlock = toBlock({ 'grpc-encoding': 'gzip' })
const gzipBomb = toMessage(gzipSync(Buffer.alloc(4 << 20)), 1)
/** Within the limits of a request as far as it goes, so that the server waits for the rest. */
const half = toMessage(toRequestMessage([[['guest', 'x'.repeat(4_000_000)]]])).subarray(0, 1 << 20)

function toLargeHeaders(id: number): Buffer {
  const parts: Uint8Array[] = []
  for (let at = 0; at < largeBlock.length; at += 16_384) {
    const isLast = at + 16_384 >= largeBlock.length
    const type = at === 0 ? frameTypes.headers : continuation
    const flags = (isLast ? endHeaders : 0) | (at === 0 ? frameFlags.endStream : 0)
    parts.push(toFrame(type, flags, id, largeBlock.subarray(at, at + 16_384)))
  }
  return Buffer.concat(parts)
}

const noWindow = toSettings([[settingIds.initialWindowSize, 0]])
const openCall = (id: number): Uint8Array => toFrame(frameTypes.headers, endHeaders, id, plainBlock)

export const attacks: Readonly<Record<string, Attack>> = {
  'largest-calls': {
    title: 'calls of 4 MiB with 419,000 descriptors',
    piece: (n) => toCall(idOf(n), largest),
  },
  'most-descriptors': {
    title: 'calls with 500 descriptors',
    piece: (n) => toCall(idOf(n), allowed),
  },
  'most-hits': {
    title: 'hits of 2^64 − 1',
    piece: (n) => toCall(idOf(n), mostHits),
  },
  'hard-values': {
    title: 'values with spaces, control characters and 1,000 letters',
    piece: (n) => toCall(idOf(n), hardValues),
  },
  'rapid-reset': {
    title: 'calls opened and reset at once',
    piece: (n) => Buffer.concat([openCall(idOf(n)), toReset(idOf(n))]),
  },
  'late-reset': {
    title: 'calls reset after their responses',
    piece: (n) => Buffer.concat([toCall(idOf(n), small), toReset(idOf(n))]),
  },
  'refused-streams': {
    title: 'more concurrent calls than allowed',
    piece: (n) => openCall(idOf(n)),
  },
  'one-byte-data': {
    title: 'DATA frames of one byte',
    first: () =>
      Buffer.concat([openCall(1), toFrame(frameTypes.data, 0, 1, largest.subarray(0, 5))]),
    piece: () => toFrame(frameTypes.data, 0, 1, Buffer.alloc(1)),
  },
  'hpack-bombs': {
    title: 'HPACK bombs: 16 KB that decode to 44 MB',
    piece: (n) => toFrame(frameTypes.headers, endHeaders | frameFlags.endStream, idOf(n), bomb),
  },
  'large-headers': {
    title: 'metadata of 90 KB',
    piece: (n) => toLargeHeaders(idOf(n)),
  },
  'gzip-bombs': {
    title: 'gzip bombs: 4 KB that decompress to 4 MiB',
    piece: (n) => toCall(idOf(n), gzipBomb, gzipBlock),
  },
  'half-messages': {
    title: 'incomplete messages of 1 MiB on 20 connections',
    connections: 20,
    piece: (n) =>
      n >= 15
        ? undefined
        : Buffer.concat([
            openCall(idOf(n)),
            ...Array.from({ length: half.length / 16_384 }, (_, part) =>
              toFrame(
                frameTypes.data,
                0,
                idOf(n),
                half.subarray(part * 16_384, (part + 1) * 16_384),
              ),
            ),
          ]),
  },
  'zero-windows': {
    title: 'responses held back by a window of 0',
    settings: noWindow,
    piece: (n) => toCall(idOf(n), small),
  },
  'ordinary-calls': {
    title: 'ordinary calls without a pause, on 20 connections',
    connections: 20,
    piece: (n) => toCall(idOf(n), small),
  },
  'slow-readers': {
    title: 'responses that are not read, on 20 connections',
    connections: 20,
    isDeaf: true,
    piece: (n) => toCall(idOf(n), small),
  },
}
