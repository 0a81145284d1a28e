/** The maximum length of a varint in bytes. */
const longestVarint = 10
/** Up to this length, a loop in JavaScript is faster than a call into native code. */
const longestLoop = 24
const smallest = 1_024
/** A buffer that one huge message needed is not kept for the small ones after it. */
const largestKept = 1_048_576

/**
 * Writes protobuf fields into its own buffer, which grows as needed.
 * An instance can be reused: `reset` starts the next message in the same buffer.
 */
export class WireWriter {
  buffer = Buffer.allocUnsafeSlow(smallest)
  /** The number of bytes that were written. */
  length = 0

  reset(): void {
    this.length = 0
    if (this.buffer.length > largestKept) this.buffer = Buffer.allocUnsafeSlow(smallest)
  }

  /** Returns the buffer with room for at least this many bytes after `length`. */
  room(byteCount: number): Buffer {
    this.reserve(byteCount)
    return this.buffer
  }

  /** The messages of this service have only tags below 128 (fields 1 to 15). */
  writeTag(tag: number): void {
    this.reserve(1)
    this.buffer[this.length++] = tag
  }

  writeUint32(value: number): void {
    this.reserve(longestVarint)
    let rest = value
    while (rest > 0x7f) {
      this.buffer[this.length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.buffer[this.length++] = rest
  }

  /** Protobuf encodes a negative number in ten bytes. */
  writeInt32(value: number): void {
    if (value >= 0) this.writeUint32(value)
    else this.writeBigint(BigInt.asUintN(64, BigInt(value)))
  }

  writeUint64(value: number): void {
    if (value <= 0xffff_ffff) this.writeUint32(value)
    else this.writeBigint(BigInt(Math.min(value, 2 ** 64)) - (value >= 2 ** 64 ? 1n : 0n))
  }

  private writeBigint(value: bigint): void {
    this.reserve(longestVarint)
    let rest = value
    while (rest > 0x7fn) {
      this.buffer[this.length++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.buffer[this.length++] = Number(rest)
  }

  writeDouble(value: number): void {
    this.reserve(8)
    this.length = this.buffer.writeDoubleLE(value, this.length)
  }

  writeString(text: string): void {
    const start = this.begin()
    // UTF-8 takes at most three bytes per UTF-16 code unit.
    this.reserve(text.length * 3)
    if (text.length > longestLoop || !this.writeAscii(text)) {
      this.length = start + this.buffer.write(text, start)
    }
    this.finish(start)
  }

  /** Starts a field with a length prefix. Pass the result to `finish`. */
  begin(): number {
    this.reserve(1)
    return ++this.length
  }

  /** One byte was reserved for the length, which is nearly always enough; otherwise the content is moved. */
  finish(start: number): void {
    const length = this.length - start
    if (length < 0x80) {
      this.buffer[start - 1] = length
      return
    }
    this.reserve(longestVarint)
    const moved = start + varintSize(length) - 1
    this.buffer.copyWithin(moved, start, this.length)
    this.length = start - 1
    this.writeUint32(length)
    this.length = moved + length
  }

  private writeAscii(text: string): boolean {
    let at = this.length
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) return false
      this.buffer[at++] = code
    }
    this.length = at
    return true
  }

  private reserve(byteCount: number): void {
    if (this.length + byteCount > this.buffer.length) this.grow(byteCount)
  }

  private grow(byteCount: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.length + byteCount))
    this.buffer.copy(grown, 0, 0, this.length)
    this.buffer = grown
  }
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 0x7f; rest >>>= 7) size++
  return size
}
