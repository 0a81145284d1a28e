/*
 * The protobuf wire format: fields with a tag of field number and wire type, followed by a number, or by a length and
 * that many bytes. Two small protocols do not justify a library that is loaded at each start
 * (docs/decisions/024-protobuf.md).
 */

const [varint, bytes] = [0, 2] as const
const fixedLengths: ReadonlyMap<number, number> = new Map([
  [1, 8],
  [5, 4],
])

export function toField(number: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([(number << 3) | bytes]), toVarint(content.length), content])
}

export function toText(number: number, text: string): Buffer {
  return toField(number, [Buffer.from(text)])
}

export function toNumber(number: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | varint]), toVarint(value)])
}

function toVarint(value: number): Buffer {
  const digits: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) digits.push((rest % 0x80) | 0x80)
  return Buffer.from([...digits, rest])
}

/** A message cannot be decoded. */
export class WireError extends Error {}

export type Fields = ReadonlyMap<number, readonly (number | Buffer)[]>

/** All values of each field, in order. @throws {WireError} */
export function readFields(message: Buffer): Fields {
  const fields = new Map<number, (number | Buffer)[]>()
  let at = 0
  const add = (field: number, value: number | Buffer) => {
    const known = fields.get(field)
    if (known === undefined) fields.set(field, [value])
    else known.push(value)
  }
  const readVarint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const byte = message[at++]
      if (byte === undefined) throw new WireError('the message is truncated')
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = readVarint()
    const kind = tag & 7
    const field = Math.floor(tag / 8)
    if (kind === varint) {
      add(field, readVarint())
      continue
    }
    const length = kind === bytes ? readVarint() : fixedLengths.get(kind)
    if (length === undefined || at + length > message.length) {
      throw new WireError('the message is malformed')
    }
    add(field, message.subarray(at, at + length))
    at += length
  }
  return fields
}

/** The last value of a field that is a message or a text; empty if there is none. */
export function findBytes(fields: Fields, field: number): Buffer {
  const value = fields.get(field)?.at(-1)
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

/** The last value of a number; undefined if there is none. */
export function findNumber(fields: Fields, field: number): number | undefined {
  const value = fields.get(field)?.at(-1)
  return typeof value === 'number' ? value : undefined
}
