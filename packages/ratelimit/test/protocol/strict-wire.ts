import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'

/**
 * Checks bytes as strictly as the official protobuf implementations, where `@bufbuild/protobuf` is more
 * lenient. It throws if they are malformed, and otherwise returns the same message without fields that are
 * unknown or have the wrong wire type, which the library would misread. It is intentionally slow and simple.
 */
export function normalise(bytes: Uint8Array, message: DescMessage, depth = 0): Uint8Array {
  if (depth > 100) throw new Error('too deep')
  const kept: Uint8Array[] = []
  let position = 0
  while (position < bytes.length) {
    const start = position
    const tag = readVarint(bytes, position)
    const fieldNumber = Number(tag.value >> 3n)
    const wireType = Number(tag.value & 7n)
    if (tag.value > 0xffff_ffffn || fieldNumber === 0) throw new Error('invalid tag')
    const valueStart = tag.end
    position = skipValue(bytes, valueStart, fieldNumber, wireType, depth)

    const field = message.fields.find(({ number }) => number === fieldNumber)
    if (field === undefined || toWireType(field) !== wireType) continue
    if (wireType !== 2) {
      kept.push(bytes.subarray(start, position))
      continue
    }
    const content = bytes.subarray(readVarint(bytes, valueStart).end, position)
    if (field.message !== undefined) {
      const inner = normalise(content, field.message, depth + 1)
      kept.push(Uint8Array.of((fieldNumber << 3) | 2), toVarint(inner.length), inner)
    } else {
      new TextDecoder('utf-8', { fatal: true }).decode(content)
      kept.push(Uint8Array.of((fieldNumber << 3) | 2), toVarint(content.length), content)
    }
  }
  return Buffer.concat(kept)
}

function skipValue(
  bytes: Uint8Array,
  start: number,
  fieldNumber: number,
  wireType: number,
  depth: number,
): number {
  const end = findEnd(bytes, start, fieldNumber, wireType, depth)
  if (end > bytes.length) throw new Error('truncated')
  return end
}

function findEnd(
  bytes: Uint8Array,
  start: number,
  fieldNumber: number,
  wireType: number,
  depth: number,
): number {
  if (wireType === 0) return readVarint(bytes, start).end
  if (wireType === 1) return start + 8
  if (wireType === 5) return start + 4
  if (wireType === 2) {
    const length = readVarint(bytes, start)
    if (length.value > 0xffff_ffffn) throw new Error('too long')
    return length.end + Number(length.value)
  }
  if (wireType !== 3) throw new Error('unknown wire type')
  if (depth >= 100) throw new Error('too deep')
  let position = start
  for (;;) {
    const tag = readVarint(bytes, position)
    const number = Number(tag.value >> 3n)
    if (tag.value > 0xffff_ffffn || number === 0) throw new Error('invalid tag')
    if ((tag.value & 7n) === 4n) {
      if (number !== fieldNumber) throw new Error('the end of another group')
      return tag.end
    }
    position = skipValue(bytes, tag.end, number, Number(tag.value & 7n), depth + 1)
  }
}

function toWireType(field: DescField): number {
  if (field.fieldKind === 'message' || field.fieldKind === 'list') return 2
  if (field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING) return 2
  return 0
}

function readVarint(bytes: Uint8Array, start: number): { value: bigint; end: number } {
  let value = 0n
  for (let index = 0; index < 10; index++) {
    const byte = bytes[start + index]
    if (byte === undefined) throw new Error('truncated')
    value |= BigInt(byte & 0x7f) << BigInt(7 * index)
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: start + index + 1 }
  }
  throw new Error('a varint of more than 10 bytes')
}

export function toVarint(value: number | bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}
