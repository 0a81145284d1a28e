/*
 * The texts of packed rules; see packed-rules.ts for the measurements.
 *
 * A text, starting at the word that refers to it:
 *
 *     the number of code units times two, plus 1 if they are wide
 *     the code units, one byte each, or two bytes each if one of them needs that
 *
 * padded to whole words of 32 bits.
 */
const isWide = 1

/** The number of the empty text in every set of texts. */
export const emptyText = 0

/** Writes texts into one buffer, each of them once. */
export class TextPacker {
  #words = new Int32Array(1_024)
  #bytes = Buffer.from(this.#words.buffer)
  #next = 0
  readonly #known = new Map<string, number>()

  constructor() {
    this.add('')
  }

  /** Returns the number of the text. */
  add(text: string): number {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const start = this.#next
    this.#known.set(text, start)
    const wide = hasWideUnit(text) ? isWide : 0
    const byteLength = text.length << wide
    this.#next = start + 1 + ((byteLength + 3) >> 2)
    if (this.#next > this.#words.length) this.#grow()
    this.#words[start] = (text.length << 1) | wide
    this.#bytes.write(text, (start + 1) << 2, wide ? 'utf16le' : 'latin1')
    return start
  }

  /** Returns all texts. Nothing can be added afterwards. */
  finish(): Int32Array<ArrayBuffer> {
    this.#known.clear()
    return this.#words.slice(0, this.#next)
  }

  #grow(): void {
    const words = new Int32Array(Math.max(this.#words.length * 2, this.#next))
    words.set(this.#words)
    this.#words = words
    this.#bytes = Buffer.from(words.buffer)
  }
}

function hasWideUnit(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0xff) return true
  return false
}

/** Reads the buffer of a `TextPacker`. */
export class PackedTexts {
  readonly #words: Int32Array<ArrayBuffer>
  readonly #bytes: Buffer

  constructor(words: Int32Array<ArrayBuffer>) {
    this.#words = words
    this.#bytes = Buffer.from(words.buffer)
  }

  read(at: number): string {
    const head = this.#words[at] ?? 0
    const start = (at + 1) << 2
    const wide = head & isWide
    const end = start + ((head >> 1) << wide)
    return this.#bytes.toString(wide ? 'utf16le' : 'latin1', start, end)
  }

  /** Compares the text without creating a string. Hot path. */
  is(at: number, text: string): boolean {
    const head = this.#words[at] ?? 0
    const { length } = text
    if (head >> 1 !== length) return false
    const bytes = this.#bytes
    let from = (at + 1) << 2
    if (head & isWide) {
      for (let i = 0; i < length; i += 1, from += 2) {
        if (((bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8)) !== text.charCodeAt(i))
          return false
      }
      return true
    }
    for (let i = 0; i < length; i += 1, from += 1) {
      if (bytes[from] !== text.charCodeAt(i)) return false
    }
    return true
  }
}
