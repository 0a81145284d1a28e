import { mixBits } from './hash-slots.ts'

/* Part of the tables in key-page.ts, where the measurements are. */

/** They are secret, because a client that knows them could choose keys that collide. */
let multiplierA = 0
let multiplierB = 0
let startA = 0
let startB = 0

/** Called with the first table, because loading `node:crypto` takes longer than loading everything else. */
function chooseSecrets(): void {
  if (multiplierA !== 0) return
  const bytes = process.getBuiltinModule('node:crypto').randomBytes(16)
  multiplierA = bytes.readInt32LE(0) | 1
  multiplierB = bytes.readInt32LE(4) | 1
  startA = bytes.readInt32LE(8) | 1
  startB = bytes.readInt32LE(12) | 1
}

/** The bytes of a key as a part of an array of words. */
export interface KeyRange {
  /** Contains the bytes from `start`; the last word is padded with zeros. */
  readonly words: Int32Array
  readonly start: number
  readonly byteLength: number
}

/** A key that is already encoded, so that it need not be encoded again. Nothing but the note changes. */
export interface EncodedKey {
  /** Contains the key from `start`; its last word is padded with zeros. */
  readonly words: Int32Array
  readonly start: number
  readonly byteLength: number
  /** Different functions of all bytes. All 32 bits of each can be used. */
  readonly hash: number
  readonly secondHash: number
  /** Whether the bytes are also those of UTF-8. */
  readonly isAscii: boolean
  /**
   * Two words at this position of `words` are at the disposal of the store, for a note about the counter. They are 0
   * at first. 0 if there are no such words.
   */
  readonly noteAt: number
}

/** A key as text or encoded. */
export type AnyKey = string | EncodedKey

export class KeyWords implements EncodedKey {
  words: Int32Array<ArrayBuffer>
  start = 0
  byteLength = 0
  hash = 0
  secondHash = 0
  isAscii = true
  noteAt = 0

  constructor(words: Int32Array<ArrayBuffer>) {
    this.words = words
  }

  /** The text of a key in ASCII. */
  toText(): string {
    const { buffer, byteOffset } = this.words
    const start = byteOffset + this.start * 4
    return Buffer.from(buffer, start, this.byteLength).toString('latin1')
  }
}

/**
 * The bytes of one key at a time, as words, with their hashes. Hot path: the key is encoded natively (three
 * times faster than character by character), and hashed and compared four bytes at a time.
 */
export class KeyBytes {
  #bytes: Buffer<ArrayBuffer>
  /** The latest key. */
  readonly key: KeyWords

  /** @param room - the number of bytes; `set` extends it when necessary */
  constructor(room = 4096) {
    chooseSecrets()
    this.#bytes = Buffer.alloc((room + 3) & ~3)
    this.key = new KeyWords(toWords(this.#bytes))
  }

  /** Encodes and returns a key, which is valid until the next one is set. */
  set(text: string): KeyWords {
    // Three bytes for each code unit are always enough, and one word is left for padding.
    if (text.length * 3 + 4 > this.#bytes.length) this.#grow(text.length * 3 + 4)
    const length = this.#bytes.write(text)
    // Only ASCII takes one byte for each code unit.
    const isAscii = length === text.length
    return this.#end(isAscii ? length : this.#writeCodeUnits(text), isAscii)
  }

  /** Like `set`, for a key that may already be encoded. */
  encode(key: AnyKey): EncodedKey {
    return typeof key === 'string' ? this.set(key) : key
  }

  /**
   * Replaces the bytes from `start` with a value and the bytes after it, for which there must be room, and returns the
   * key. Returns undefined for a value that contains a character that is escaped in keys.
   */
  replaceEnd(start: number, value: string, after: Uint8Array): KeyWords | undefined {
    const bytes = this.#bytes
    let at = start
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code <= 0x20 || code >= 0x7f || code === percent || code === underscore) return undefined
      bytes[at++] = code
    }
    for (let i = 0; i < after.length; i++) bytes[at++] = after[i] ?? 0
    return this.#end(at, this.key.isAscii)
  }

  #end(length: number, isAscii: boolean): KeyWords {
    const { key } = this
    const { words } = key
    const end = length >> 2
    words[end] = (words[end] ?? 0) & ((1 << ((length & 3) << 3)) - 1)
    key.byteLength = length
    key.isAscii = isAscii

    // The second hash reads each word with its halves swapped. A multiplication mixes the high bits poorly, so a
    // difference that one hash hardly mixes is mixed well in the other.
    const timesA = multiplierA
    const timesB = multiplierB
    let a = startA ^ length
    let b = startB
    for (let i = 0; i <= end; i++) {
      const word = words[i] ?? 0
      a = Math.imul(a ^ word, timesA) ^ (b >>> 15)
      b = Math.imul(b ^ ((word << 16) | (word >>> 16)), timesB) ^ (a >>> 15)
    }
    key.hash = mixBits(mixBits(a) ^ b)
    key.secondHash = mixBits(mixBits(b) ^ a)
    return key
  }

  /**
   * Writes code units instead of UTF-8: the encoder maps all lone surrogates to the same bytes, so two keys
   * would share a counter.
   */
  #writeCodeUnits(text: string): number {
    const bytes = this.#bytes
    let at = 0
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < 0x80) {
        bytes[at++] = unit
      } else if (unit < 0x800) {
        bytes[at++] = 0xc0 | (unit >> 6)
        bytes[at++] = 0x80 | (unit & 0x3f)
      } else {
        bytes[at++] = 0xe0 | (unit >> 12)
        bytes[at++] = 0x80 | ((unit >> 6) & 0x3f)
        bytes[at++] = 0x80 | (unit & 0x3f)
      }
    }
    return at
  }

  #grow(length: number): void {
    this.#bytes = Buffer.alloc(2 ** Math.ceil(Math.log2(length)))
    this.key.words = toWords(this.#bytes)
  }
}

const percent = 0x25
const underscore = 0x5f

function toWords({ buffer, byteOffset, length }: Buffer<ArrayBuffer>): Int32Array<ArrayBuffer> {
  return new Int32Array(buffer, byteOffset, length / 4)
}
