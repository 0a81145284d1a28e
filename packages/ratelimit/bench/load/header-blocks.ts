// The header blocks of a call (HPACK, RFC 7541). The first call of a connection adds its headers to the
// server's table; all later ones refer to the entries, like every real client. Both kinds of block are
// the same on any connection, so they are created once.

const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'

// Indexes of the static table.
const methodPost = 0x83
const schemeHttp = 0x86
const indexOfName = { ':authority': 1, ':path': 4, 'content-type': 31, 'user-agent': 58 } as const

/** In the order of the call; the table numbers them in reverse, with the newest first. */
const remembered: readonly (readonly [name: string, value: string])[] = [
  [':path', path],
  [':authority', 'ratelimit'],
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
  ['user-agent', 'portcullis-bench'],
]
const firstDynamicIndex = 62

export interface HeaderBlocks {
  readonly first: Uint8Array
  readonly later: Uint8Array
}

/** A time limit that no call reaches. Its last digits may change from call to call. */
export const timeout = { text: '90000000u', digitsAt: 2, digits: 6 } as const

export function createHeaderBlocks(hasTimeout: boolean): HeaderBlocks {
  const tail = hasTimeout ? [0x00, ...toText('grpc-timeout'), ...toText(timeout.text)] : []
  const literals = remembered.flatMap(([name, value]) => [...toIndexedName(name), ...toText(value)])
  const indexes = remembered.map(
    (_, age) => 0x80 | (firstDynamicIndex + remembered.length - 1 - age),
  )
  return {
    first: Uint8Array.from([methodPost, schemeHttp, ...literals, ...tail]),
    later: Uint8Array.from([methodPost, schemeHttp, ...indexes, ...tail]),
  }
}

/** Literal with incremental indexing, with an indexed name if it is in the static table. */
function toIndexedName(name: string): readonly number[] {
  const index = Object.hasOwn(indexOfName, name)
    ? indexOfName[name as keyof typeof indexOfName]
    : undefined
  return index === undefined ? [0x40, ...toText(name)] : [0x40 | index]
}

/** Text without Huffman coding, short enough for a length of one byte. */
function toText(text: string): readonly number[] {
  return [text.length, ...Buffer.from(text, 'latin1')]
}
