/*
 * Big-endian numbers in bytes. The callers have checked the bounds, so `?? 0` is never used: it
 * satisfies the compiler and costs nothing once compiled.
 */

export const EMPTY = Buffer.alloc(0)

export function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0
}

export function uint16At(bytes: Uint8Array, at: number): number {
  return (byteAt(bytes, at) << 8) | byteAt(bytes, at + 1)
}

export function uint24At(bytes: Uint8Array, at: number): number {
  return (byteAt(bytes, at) << 16) | (byteAt(bytes, at + 1) << 8) | byteAt(bytes, at + 2)
}

export function uint32At(bytes: Uint8Array, at: number): number {
  return ((byteAt(bytes, at) << 24) | uint24At(bytes, at + 1)) >>> 0
}

/** A number whose highest bit is reserved and ignored, such as a stream identifier. */
export function uint31At(bytes: Uint8Array, at: number): number {
  return ((byteAt(bytes, at) & 0x7f) << 24) | uint24At(bytes, at + 1)
}

export function putUint16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8
  bytes[at + 1] = value
}

export function putUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

/** Up to this many bytes, a plain loop is faster than a call of the native copy. */
const LOOP_COPY_LIMIT = 64

export function copyBytes(
  target: Uint8Array,
  at: number,
  source: Uint8Array,
  start: number,
  end: number,
): void {
  if (end - start > LOOP_COPY_LIMIT) {
    target.set(source.subarray(start, end), at)
    return
  }
  for (let from = start, to = at; from < end; from++, to++) target[to] = byteAt(source, from)
}
