import { STATIC_TABLE_LENGTH } from './static-table.ts'

const STATUS_200 = 0x80 | 8
const STATUS_NAME = 8
const CONTENT_TYPE_NAME = 31

const DEFAULT_TABLE_SIZE = 4096

/** A peer with a smaller table gets literals, since the two entries might evict each other. */
const MIN_TABLE_SIZE = 256

/** More than the largest block of `putOkHeaders` and `putOkTrailers`. */
export const MAX_OK_BLOCK = 64

/** The maximum overhead of an encoded field, in addition to its name and value. */
const FIELD_OVERHEAD = 12

const GRPC = 'application/grpc'

/** A response header beyond `:status`. */
export type ResponseField = readonly [name: string, value: string]

/**
 * Encodes the response headers of one connection. The two fields of every successful response enter
 * the peer's dynamic table once; from then on the headers take two bytes and the trailers one.
 * Nothing else is ever indexed, so these indexes do not change.
 */
export class ResponseEncoder {
  #contentTypeIndex = 0
  #okStatusIndex = 0
  #maySetTable = true
  #tableSize = DEFAULT_TABLE_SIZE
  /**
   * The smallest and the last size that must be signalled to the peer (RFC 7541 4.2); -1 for none.
   */
  #smallestSize = -1
  #lastSize = -1

  /** The peer's SETTINGS_HEADER_TABLE_SIZE. A size above the default has no effect. */
  setTableSize(peerSize: number): void {
    const size = Math.min(peerSize, DEFAULT_TABLE_SIZE)
    if (size === this.#tableSize) return
    this.#smallestSize = this.#smallestSize < 0 ? size : Math.min(this.#smallestSize, size)
    this.#lastSize = size
    this.#tableSize = size
    // Starting over is simpler than tracking what the peer has evicted, and is still correct: the
    // entries are added again, and the old ones are evicted over time.
    this.#contentTypeIndex = 0
    this.#okStatusIndex = 0
    this.#maySetTable = size >= MIN_TABLE_SIZE
  }

  /** `:status: 200` and the content type. Returns where the block ends. */
  putOkHeaders(bytes: Buffer, start: number): number {
    let at = this.#smallestSize < 0 ? start : this.#putSizeUpdates(bytes, start)
    bytes[at++] = STATUS_200
    if (this.#contentTypeIndex > 0) {
      bytes[at++] = 0x80 | this.#contentTypeIndex
      return at
    }
    return this.#putContentType(bytes, at)
  }

  /** `grpc-status: 0`. Returns where the block ends. */
  putOkTrailers(bytes: Buffer, start: number): number {
    let at = this.#smallestSize < 0 ? start : this.#putSizeUpdates(bytes, start)
    if (this.#okStatusIndex > 0) {
      bytes[at++] = 0x80 | this.#okStatusIndex
      return at
    }
    if (this.#maySetTable) {
      this.#okStatusIndex = STATIC_TABLE_LENGTH + 1
      if (this.#contentTypeIndex > 0) this.#contentTypeIndex++
    }
    bytes[at++] = this.#maySetTable ? 0x40 : 0
    return putString(bytes, putString(bytes, at, 'grpc-status'), '0')
  }

  /** The size of the buffer needed for a block of these fields. */
  sizeOf(fields: readonly ResponseField[]): number {
    let size = MAX_OK_BLOCK
    for (const [name, value] of fields) size += name.length + value.length + FIELD_OVERHEAD
    return size
  }

  /** Writes any status and the given fields, which are not indexed. */
  putHeaders(
    bytes: Buffer,
    start: number,
    httpStatus: number,
    fields: readonly ResponseField[],
  ): number {
    let at = this.#smallestSize < 0 ? start : this.#putSizeUpdates(bytes, start)
    if (httpStatus === 200) {
      bytes[at++] = STATUS_200
    } else {
      bytes[at++] = STATUS_NAME
      at = putString(bytes, at, String(httpStatus))
    }
    return putFields(bytes, at, fields)
  }

  putTrailers(bytes: Buffer, start: number, fields: readonly ResponseField[]): number {
    const at = this.#smallestSize < 0 ? start : this.#putSizeUpdates(bytes, start)
    return putFields(bytes, at, fields)
  }

  #putContentType(bytes: Buffer, start: number): number {
    let at = start
    if (this.#maySetTable) {
      bytes[at++] = 0x40 | CONTENT_TYPE_NAME
      this.#contentTypeIndex = STATIC_TABLE_LENGTH + 1
      if (this.#okStatusIndex > 0) this.#okStatusIndex++
    } else {
      at = putInteger(bytes, at, 0, 4, CONTENT_TYPE_NAME)
    }
    return putString(bytes, at, GRPC)
  }

  #putSizeUpdates(bytes: Buffer, start: number): number {
    let at = putInteger(bytes, start, 0x20, 5, this.#smallestSize)
    if (this.#lastSize !== this.#smallestSize) {
      at = putInteger(bytes, at, 0x20, 5, this.#lastSize)
    }
    this.#smallestSize = -1
    this.#lastSize = -1
    return at
  }
}

function putFields(bytes: Buffer, start: number, fields: readonly ResponseField[]): number {
  let at = start
  for (const [name, value] of fields) {
    bytes[at++] = 0
    at = putString(bytes, putString(bytes, at, name), value)
  }
  return at
}

function putString(bytes: Buffer, start: number, text: string): number {
  const at = putInteger(bytes, start, 0, 7, text.length)
  return at + bytes.write(text, at, 'latin1')
}

/** RFC 7541 5.1. */
function putInteger(
  bytes: Buffer,
  start: number,
  pattern: number,
  prefixBits: number,
  value: number,
): number {
  const mask = (1 << prefixBits) - 1
  let at = start
  if (value < mask) {
    bytes[at++] = pattern | value
    return at
  }
  bytes[at++] = pattern | mask
  let rest = value - mask
  for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80
  bytes[at++] = rest
  return at
}
