/*
 * Messages of protobuf by field number, for protocols of which only a few fields are needed. Modules that import this
 * one are loaded when their feature is enabled (docs/decisions/024-protobuf.md).
 */

import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

export function toField(number: number, parts: readonly Uint8Array[]): Buffer {
  const writer = new BinaryWriter().tag(number, WireType.LengthDelimited)
  return Buffer.from(writer.bytes(Buffer.concat(parts)).finish())
}

export function toText(number: number, text: string): Buffer {
  return toField(number, [Buffer.from(text)])
}

export function toNumber(number: number, value: number | bigint): Buffer {
  return Buffer.from(new BinaryWriter().tag(number, WireType.Varint).int64(value).finish())
}

/** Several numbers in one field. */
export function toNumbers(number: number, values: readonly (number | bigint)[]): Buffer {
  const writer = new BinaryWriter()
  for (const value of values) writer.int64(value)
  return toField(number, [writer.finish()])
}

/** A message cannot be decoded. */
export class WireError extends Error {}

export type Fields = ReadonlyMap<number, readonly (number | Buffer)[]>

/** All numbers and byte sequences of each field, in order. @throws {WireError} */
export function readFields(message: Uint8Array): Fields {
  const fields = new Map<number, (number | Buffer)[]>()
  const reader = new BinaryReader(message)
  try {
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag()
      const value = readValue(reader, field, type)
      if (value === undefined) continue
      const known = fields.get(field)
      if (known === undefined) fields.set(field, [value])
      else known.push(value)
    }
  } catch (error) {
    throw new WireError('the message is malformed', { cause: error })
  }
  return fields
}

function readValue(reader: BinaryReader, field: number, type: WireType) {
  if (type === WireType.Varint) return Number(reader.uint64())
  if (type === WireType.LengthDelimited) {
    const { buffer, byteOffset, byteLength } = reader.bytes()
    return Buffer.from(buffer, byteOffset, byteLength)
  }
  reader.skip(type, field)
  return undefined
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
