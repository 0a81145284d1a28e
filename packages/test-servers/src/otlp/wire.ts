/** Decodes protobuf according to tables of fields, and throws on anything that is not in them. */
export type Parts = Readonly<Record<string, unknown>>

type WireType = 0 | 1 | 2 | 5

interface Kind {
  readonly wireType: WireType
  readonly read: (reader: Reader) => unknown
}

interface Field {
  readonly name: string
  readonly kind: Kind
  readonly isRepeated?: true
}

/** Fields by number. */
export type Fields = Readonly<Record<number, Field>>

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes.readUInt8(this.#at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new Error('a varint is too long')
  }

  take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new Error('the message is truncated')
    const bytes = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return bytes
  }
}

const delimited = (read: (bytes: Buffer) => unknown): Kind => ({
  wireType: 2,
  read: (reader) => read(reader.take(Number(reader.varint()))),
})

export const text = delimited((bytes) => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
export const hex = delimited((bytes) => bytes.toString('hex'))
export const flag: Kind = { wireType: 0, read: (reader) => reader.varint() === 1n }
export const integer: Kind = {
  wireType: 0,
  read: (reader) => Number(BigInt.asIntN(64, reader.varint())),
}
export const double: Kind = { wireType: 1, read: (reader) => reader.take(8).readDoubleLE() }
export const fixed64: Kind = { wireType: 1, read: (reader) => reader.take(8).readBigUInt64LE() }
export const signed64: Kind = {
  wireType: 1,
  read: (reader) => Number(reader.take(8).readBigInt64LE()),
}
export const fixed32: Kind = { wireType: 5, read: (reader) => reader.take(4).readUInt32LE() }
export const packed = (size: number, read: (bytes: Buffer, at: number) => number): Kind =>
  delimited((bytes) => {
    if (bytes.length % size !== 0) throw new Error('a list is truncated')
    return Array.from({ length: bytes.length / size }, (_, at) => read(bytes, at * size))
  })
export const message = (fields: () => Fields): Kind => delimited((bytes) => decode(bytes, fields()))

export function decode(bytes: Buffer, fields: Fields): Parts {
  const reader = new Reader(bytes)
  const found: Record<string, unknown> = {}
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint())
    const field = fields[tag >> 3]
    if (field === undefined) throw new Error(`field ${tag >> 3} is unknown`)
    if ((tag & 7) !== field.kind.wireType) throw new Error(`${field.name} has wire type ${tag & 7}`)
    const value = field.kind.read(reader)
    const before = found[field.name]
    if (field.isRepeated) found[field.name] = Array.isArray(before) ? [...before, value] : [value]
    else if (before === undefined) found[field.name] = value
    else throw new Error(`${field.name} occurs twice`)
  }
  return found
}

export function listOf(parts: Parts, name: string): readonly Parts[] {
  const list = parts[name] ?? []
  if (!Array.isArray(list)) throw new Error(`${name} is not a list`)
  return list
}

export function partOf(parts: Parts, name: string): Parts {
  const part = parts[name] ?? {}
  if (typeof part !== 'object' || part === null) throw new Error(`${name} is not a message`)
  return part as Parts
}
