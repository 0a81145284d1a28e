import { randomBytes } from 'node:crypto'

/** Secret multipliers: who knows them can choose keys that meet in one place of the table. */
const secret = new Int32Array(4)
for (let i = 0; i < secret.length; i++) secret[i] = randomBytes(4).readInt32LE() | 1
const [multiplierA = 1, multiplierB = 1, startA = 1, startB = 1] = secret

/**
 * The bytes of one key at a time, as words, with their hash. Hot path: the key is written natively
 * (three times faster than character by character), hashed and compared four bytes at a time.
 */
export class KeyBytes {
  #bytes = Buffer.alloc(4096)
  /** The bytes, the last word filled up with zeros. */
  words = new Int32Array(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length / 4)
  byteLength = 0

  /** Takes the bytes of `text` and gives their hash, all 32 bits of it equally good. */
  set(text: string): number {
    // Three bytes for each code unit are always enough, and one word stays free to be filled up.
    if (text.length * 3 + 4 > this.#bytes.length) this.#grow(text.length * 3 + 4)
    let length = this.#bytes.write(text)
    // Only ASCII takes one byte for each code unit.
    if (length !== text.length) length = this.#writeCodeUnits(text)
    const { words } = this
    const end = length >> 2
    words[end] = (words[end] ?? 0) & ((1 << ((length & 3) << 3)) - 1)
    this.byteLength = length

    // Two lanes see each word with its halves exchanged, because a change of the high bits passes
    // a multiplication almost untouched: what one lane shows, the other hides behind its secret.
    let a = startA ^ length
    let b = startB
    for (let i = 0; i <= end; i++) {
      const word = words[i] ?? 0
      a = Math.imul(a ^ word, multiplierA) ^ (b >>> 15)
      b = Math.imul(b ^ ((word << 16) | (word >>> 16)), multiplierB) ^ (a >>> 15)
    }
    return mix(mix(a) ^ b)
  }

  /**
   * Not UTF-8 but each code unit by itself: the encoder gives all lone surrogates the same bytes,
   * and two keys would be one counter.
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
    const { buffer, byteOffset } = this.#bytes
    this.words = new Int32Array(buffer, byteOffset, this.#bytes.length / 4)
  }
}

/** Lets every bit of `h` decide about every bit of the result. */
function mix(h: number): number {
  let mixed = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
