import { isUtf8 } from 'node:buffer'
import { DecodeError } from './message.ts'
import { wire } from './tags.ts'

/** The default limit of other protobuf implementations. */
const deepestLevel = 100
/** The maximum length of a message whose texts are cut out of one string. */
const longestShared = 4_096

/**
 * Reads the fields of a protobuf message, and of the messages inside it, from a part of a buffer.
 * An instance can be reused: `open` starts the next message.
 */
export class WireReader {
  private buffer: Buffer = Buffer.alloc(0)
  private position = 0
  /** The end of the innermost message that was entered. */
  private end = 0
  /** The upper half of the last varint that took more than one byte. */
  private high = 0
  private depth = 0
  private messageEnd = 0
  /** One character for each byte from `textStart` to the end of the outermost message. */
  private text = ''
  private textStart = -1

  open(buffer: Buffer, start: number, end: number): void {
    this.buffer = buffer
    this.position = start
    this.end = end
    this.depth = 0
    this.messageEnd = end
    this.textStart = -1
  }

  hasMore(): boolean {
    return this.position < this.end
  }

  /** The number of bytes up to the end of the innermost message. */
  get left(): number {
    return this.end - this.position
  }

  /** Moves to the end of the innermost message. */
  skipRest(): void {
    this.position = this.end
  }

  /** Enters a nested message. Pass the result to `leave`. */
  enter(): number {
    const outerEnd = this.end
    if (++this.depth > deepestLevel)
      this.fail(`messages are nested deeper than ${deepestLevel} levels`)
    this.end = this.readLength()
    return outerEnd
  }

  /** Enters a nested message of which only the beginning may be there. Pass the result to `leave`. */
  enterBeginning(): number {
    const outerEnd = this.end
    const length = this.readUint32()
    this.depth++
    this.end = Math.min(outerEnd, this.position + length)
    return outerEnd
  }

  leave(outerEnd: number): void {
    this.depth--
    this.end = outerEnd
  }

  /** The tag is not checked; `skip` refuses invalid ones. */
  readTag(): number {
    const first = this.peekByte()
    return first < 0x80 ? this.takeByte(first) : this.readLongUint32()
  }

  readUint32(): number {
    const first = this.peekByte()
    return first < 0x80 ? this.takeByte(first) : this.readVarint()
  }

  readInt32(): number {
    return this.readUint32() | 0
  }

  /** Above 2^53, returns the nearest double. */
  readUint64(): number {
    const low = this.readVarint()
    return this.high * 0x1_0000_0000 + low
  }

  readBool(): boolean {
    return this.readVarint() !== 0 || this.high !== 0
  }

  /** For a text that is mostly the same, such as a domain or a key. */
  readName(): string {
    const end = this.readLength()
    const start = this.position
    this.position = end
    return internName(this.buffer, start, end) ?? this.toText(start, end)
  }

  /** For a text that differs from call to call. */
  readString(): string {
    const end = this.readLength()
    const start = this.position
    this.position = end
    return this.toText(start, end)
  }

  /** Skips the value of a field that is unknown or has the wrong type. */
  skip(tag: number): void {
    if (tag >>> 3 === 0) this.fail('a field has the number 0')
    switch (tag & 7) {
      case wire.varint:
        this.readVarint()
        break
      case wire.fixed64:
        this.advance(8)
        break
      case wire.bytes:
        this.position = this.readLength()
        break
      case wire.groupStart:
        this.skipGroup(tag >>> 3)
        break
      case wire.groupEnd:
        this.fail('a group ends that was not started')
        break
      case wire.fixed32:
        this.advance(4)
        break
      default:
        this.fail(`a field has the wire type ${tag & 7}, which does not exist`)
    }
  }

  private skipGroup(fieldNumber: number): void {
    if (++this.depth > deepestLevel)
      this.fail(`groups are nested deeper than ${deepestLevel} levels`)
    for (;;) {
      const tag = this.readTag()
      if ((tag & 7) !== wire.groupEnd) this.skip(tag)
      else if (tag >>> 3 === fieldNumber) break
      else this.fail('a group ends with the number of another one')
    }
    this.depth--
  }

  private peekByte(): number {
    if (this.position >= this.end) this.failTruncated()
    return this.buffer[this.position] ?? 0
  }

  private takeByte(byte: number): number {
    this.position++
    return byte
  }

  /** Reads a length and returns the end of the bytes after it. */
  private readLength(): number {
    const first = this.peekByte()
    const length = first < 0x80 ? this.takeByte(first) : this.readLongUint32()
    const end = this.position + length
    if (end > this.end) this.failTruncated()
    return end
  }

  private advance(byteCount: number): void {
    this.position += byteCount
    if (this.position > this.end) this.failTruncated()
  }

  /** Reads a tag or a length, whose upper half must be 0. */
  private readLongUint32(): number {
    const low = this.readVarint()
    if (this.high !== 0) this.fail('a field number or a length is out of range')
    return low
  }

  /** Returns the lower half and stores the upper half in `high`. */
  private readVarint(): number {
    let low = 0
    let high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.takeByte(this.peekByte())
      const bits = byte & 0x7f
      if (shift < 32) low |= bits << shift
      if (shift === 28) high = bits >>> 4
      else if (shift > 28) high |= bits << (shift - 32)
      if (byte < 0x80) {
        this.high = high >>> 0
        return low >>> 0
      }
    }
    return this.fail('a number takes more than 10 bytes')
  }

  /**
   * One native call creates a string of the remaining bytes, and further fields are cut out of it. This works
   * only for ASCII, so other texts are decoded separately. Substrings keep the whole string alive, so long
   * messages are not read like this.
   */
  private toText(start: number, end: number): string {
    if (!this.isAscii(start, end)) return this.toUnicode(start, end)
    if (this.messageEnd - start > longestShared) return this.buffer.toString('latin1', start, end)
    if (this.textStart === -1) {
      this.text = this.buffer.toString('latin1', start, this.messageEnd)
      this.textStart = start
    }
    return this.text.substring(start - this.textStart, end - this.textStart)
  }

  private isAscii(start: number, end: number): boolean {
    let allBits = 0
    for (let at = start; at < end; at++) allBits |= this.buffer[at] ?? 0
    return allBits < 0x80
  }

  private toUnicode(start: number, end: number): string {
    if (!isUtf8(this.buffer.subarray(start, end))) this.fail('a text is not valid UTF-8')
    return this.buffer.toString('utf8', start, end)
  }

  private failTruncated(): never {
    return this.fail('it ends in the middle of a field')
  }

  private fail(reason: string): never {
    throw new DecodeError(`the message cannot be decoded: ${reason}`)
  }
}

const slots = 2_048
const longest = 64

const texts: string[] = new Array(slots).fill('')
const lengths = new Uint8Array(slots)
const bytes = new Uint8Array(slots * longest)

/**
 * There are few different domains and keys in millions of requests. The same bytes return the same string, so
 * nothing is allocated, and a lookup in a map finds its hash already computed. A slot keeps only its latest
 * text, so memory is bounded whatever clients send.
 *
 * Returns undefined if the text is not ASCII or too long.
 */
function internName(buffer: Buffer, start: number, end: number): string | undefined {
  const length = end - start
  if (length > longest) return undefined
  let hash = length
  let allBits = 0
  for (let at = start; at < end; at++) {
    const byte = buffer[at] ?? 0
    allBits |= byte
    hash = (Math.imul(hash, 31) + byte) | 0
  }
  if (allBits > 0x7f) return undefined

  const slot = (hash ^ (hash >>> 11) ^ (hash >>> 22)) & (slots - 1)
  const kept = slot * longest
  if (lengths[slot] === length && isSame(buffer, start, kept, length)) return texts[slot]

  const text = buffer.toString('latin1', start, end)
  bytes.set(buffer.subarray(start, end), kept)
  lengths[slot] = length
  texts[slot] = text
  return text
}

function isSame(buffer: Buffer, start: number, kept: number, length: number): boolean {
  for (let at = 0; at < length; at++) {
    if (buffer[start + at] !== bytes[kept + at]) return false
  }
  return true
}
