import { byteAt } from '../bytes.ts'
import { DynamicTable } from './dynamic-table.ts'
import { Field } from './field.ts'
import { decodeHuffman, maxDecodedLength } from './huffman.ts'
import { STATIC_TABLE_LENGTH, staticTable } from './static-table.ts'

/** RFC 7541 5.1 lets an implementation limit integers; larger ones are never needed here. */
const MAX_INTEGER = 2 ** 28

const NO_INTEGER = -1

/**
 * A list that exceeds the limit by this factor is an attack: a few bytes that expand to many fields.
 */
const BOMB_FACTOR = 4

/** The buffer for decoded Huffman strings. Decoding is synchronous, so all connections share it. */
let scratch = Buffer.allocUnsafeSlow(4096)

/** Decodes the header blocks of one connection (RFC 7541). */
export class HpackDecoder {
  readonly table: DynamicTable
  /** True if the last block exceeded the limit; its fields are then incomplete. */
  isTooLarge = false
  /** True if decoding of the last block was aborted because the block was far over the limit. */
  isBomb = false
  /** Decoded size of the last block that was decoded completely. */
  listSize = 0
  readonly #maxListSize: number
  #at = 0
  #end = 0

  constructor(tableSize: number, maxListSize: number) {
    this.table = new DynamicTable(tableSize)
    this.#maxListSize = maxListSize
  }

  /**
   * Returns the fields of a whole block, or undefined on a compression error, which ends the
   * connection (RFC 9113 4.3). A block that is too large is still decoded to its end, since the
   * table must stay in sync, but no more fields are kept. If it is far too large, decoding is
   * aborted and the connection ends, so that a few bytes that refer to a large entry repeatedly
   * cost neither memory nor time.
   */
  decode(bytes: Buffer, start: number, end: number): Field[] | undefined {
    const fields: Field[] = []
    let listSize = 0
    this.isTooLarge = false
    this.isBomb = false
    this.#at = start
    this.#end = end
    while (this.#at < end) {
      const first = byteAt(bytes, this.#at)
      if ((first & 0xe0) === 0x20) {
        // RFC 7541 4.2: a size update is only allowed before the first field.
        if (listSize > 0 || !this.table.resize(this.#integer(bytes, 5))) return undefined
        continue
      }
      const field = (first & 0x80) !== 0 ? this.#indexed(bytes) : this.#literal(bytes, first)
      if (field === undefined) return undefined
      listSize += field.size
      if (listSize <= this.#maxListSize) fields.push(field)
      else this.isTooLarge = true
      if (listSize > BOMB_FACTOR * this.#maxListSize) {
        this.isBomb = true
        return undefined
      }
    }
    this.listSize = listSize
    return fields
  }

  #indexed(bytes: Buffer): Field | undefined {
    return this.#entry(this.#integer(bytes, 7))
  }

  #literal(bytes: Buffer, first: number): Field | undefined {
    const isIndexing = (first & 0x40) !== 0
    const nameIndex = this.#integer(bytes, isIndexing ? 6 : 4)
    if (nameIndex === NO_INTEGER) return undefined
    const named = nameIndex === 0 ? undefined : this.#entry(nameIndex)
    const name = nameIndex === 0 ? this.#string(bytes) : named?.name
    if (name === undefined) return undefined
    const value = this.#string(bytes)
    if (value === undefined) return undefined
    const field = new Field(name, value, named?.nameRole)
    if (isIndexing) this.table.add(field)
    return field
  }

  #entry(index: number): Field | undefined {
    if (index <= STATIC_TABLE_LENGTH) return index > 0 ? staticTable[index] : undefined
    return this.table.at(index - STATIC_TABLE_LENGTH - 1)
  }

  /** RFC 7541 5.1. */
  #integer(bytes: Buffer, prefixBits: number): number {
    const mask = (1 << prefixBits) - 1
    let value = byteAt(bytes, this.#at++) & mask
    if (value < mask) return value
    for (let shift = 0; shift <= 28 && this.#at < this.#end; shift += 7) {
      const byte = byteAt(bytes, this.#at++)
      value += (byte & 0x7f) * 2 ** shift
      if ((byte & 0x80) === 0) return value <= MAX_INTEGER ? value : NO_INTEGER
    }
    return NO_INTEGER
  }

  /** RFC 7541 5.2. Names and values are bytes; each byte becomes one character. */
  #string(bytes: Buffer): string | undefined {
    if (this.#at >= this.#end) return undefined
    const isHuffman = (byteAt(bytes, this.#at) & 0x80) !== 0
    const length = this.#integer(bytes, 7)
    const start = this.#at
    const end = start + length
    if (length === NO_INTEGER || end > this.#end) return undefined
    this.#at = end
    if (!isHuffman) return bytes.toString('latin1', start, end)
    if (maxDecodedLength(length) > scratch.length) {
      scratch = Buffer.allocUnsafeSlow(maxDecodedLength(length))
    }
    const written = decodeHuffman(bytes, start, end, scratch)
    return written < 0 ? undefined : scratch.toString('latin1', 0, written)
  }
}
