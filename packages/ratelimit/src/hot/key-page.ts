import type { KeyBytes } from './key-bytes.ts'

/*
 * Measured with 1,000,000 counters against a `Map` of objects (bench/hot.bench.ts, CPU time on an overloaded machine with 2 cores,
 * five runs). For pages: the slowest 100 insertions take 10 to 27 ms, in a `Map` 46 to 85 ms, because a full page is split
 * and never all of the table. Their bytes can be counted, so that MEMORY_STORE_MAX_BYTES holds. Against them: an insertion
 * takes 1.8 to 3.3 µs, in a `Map` 0.7 to 1.0. Undecided: a full garbage collection took 73 to 147 ms with pages and 80 to
 * 216 ms with a `Map`, but 75 to 166 ms with neither; a counter takes 92 bytes with its key, in a `Map` 61 without it.
 *
 * One buffer holds an index and the records behind it. A record, in words of 32 bits:
 *
 *     0  what is kept: a float64, or two words
 *     2  window        float64
 *     4  unitSeconds
 *     5  hash
 *     6  keyBytes      how many
 *     7  key           filled up with zeros to whole words
 *
 * Records start at even words, because a float64 does. An index cell is 0 when empty; otherwise 24
 * bits say where the record starts, in steps of two words, and 8 bits are of its hash (bits 11 to
 * 18, which neither choose the cell nor the page), so that hardly any record is touched in vain.
 */
const windowAt = 2
const unitAt = 4
const hashAt = 5
const keyBytesAt = 6
const keyAt = 7

/** What the 24 bits of an index cell can reach. */
export const mostPageWords = 2 ** 25

/** The words of a record whose key has so many bytes. */
export function toRecordWords(keyBytes: number): number {
  return (keyAt + ((keyBytes + 3) >> 2) + 1) & ~1
}

/**
 * A power of two of which open addressing keeps at least a quarter free. Made with integer
 * operators: places and lengths that come from it must be small integers to the compiler.
 */
function toSlots(records: number): number {
  return 1 << Math.max(4, 32 - Math.clz32((records * 4) / 3))
}

/** What the records of a page amount to. */
export interface Extent {
  readonly records: number
  readonly words: number
}

export function toPageBytes(room: Extent): number {
  return (toSlots(room.records) + room.words + (room.words & 1)) * 4
}

/**
 * A table of fixed size from (key, window) to a record. Records are appended and changed in place;
 * a removed one stays as a stale record until the page is cleared or copied.
 */
export class Page {
  readonly #buffer: ArrayBuffer
  readonly words: Int32Array
  /** The same buffer. The float64 of a record at `at` is `floats[at >> 1]`. */
  readonly floats: Float64Array
  readonly #mask: number
  #next: number
  /** Records, stale ones included. */
  size = 0
  /** No record's window is over before this second. */
  earliestEnd = Number.POSITIVE_INFINITY
  /** How many high bits of their hashes all records share. */
  readonly depth: number

  constructor(room: Extent, depth = 0) {
    const slots = toSlots(room.records)
    const bytes = toPageBytes(room)
    // A resizable buffer is mapped by itself, outside the heap of malloc, and `free` gives it back
    // to the system at once. A plain one waits for the collector and then stays in the process.
    this.#buffer = new ArrayBuffer(bytes, { maxByteLength: bytes })
    this.words = new Int32Array(this.#buffer, 0, bytes / 4)
    this.floats = new Float64Array(this.#buffer, 0, bytes / 8)
    this.#mask = slots - 1
    this.#next = slots
    this.depth = depth
  }

  get byteLength(): number {
    return this.words.byteLength
  }

  /** The words of all records, stale ones included. */
  get usedWords(): number {
    return this.#next - this.#mask - 1
  }

  /** The record of the key in the window, or 0. */
  find(key: KeyBytes, hash: number, window: number): number {
    const { words } = this
    const mask = this.#mask
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const cell = words[slot] ?? 0
      if (cell === 0) return 0
      if ((cell ^ (hash << 13)) >>> 24 !== 0) continue
      const at = (cell & 0xffffff) << 1
      if (this.#hasKey(at, key, hash) && this.floats[(at + windowAt) >> 1] === window) return at
    }
  }

  /** A record of the key in any window that is over, or 0. */
  findStale(key: KeyBytes, hash: number, nowSeconds: number): number {
    const { words } = this
    const mask = this.#mask
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const cell = words[slot] ?? 0
      if (cell === 0) return 0
      if ((cell ^ (hash << 13)) >>> 24 !== 0) continue
      const at = (cell & 0xffffff) << 1
      if (this.#hasKey(at, key, hash) && this.isStale(at, nowSeconds)) return at
    }
  }

  #hasKey(at: number, key: KeyBytes, hash: number): boolean {
    const { words } = this
    const { byteLength } = key
    if (words[at + hashAt] !== hash || words[at + keyBytesAt] !== byteLength) return false
    const keyWords = key.words
    const length = (byteLength + 3) >> 2
    for (let i = 0, from = at + keyAt; i < length; i++) {
      if (words[from + i] !== keyWords[i]) return false
    }
    return true
  }

  /** A new record with 0 in its first float64, or 0 when the page is full. */
  insert(key: KeyBytes, hash: number, window: number, unitSeconds: number): number {
    const length = toRecordWords(key.byteLength)
    const fits = this.#next + length <= this.words.length
    if (!fits || (this.size + 1) * 4 > (this.#mask + 1) * 3) return 0
    const { words } = this
    const at = this.#next
    this.#next += length
    this.#index(hash, at)
    words[at + hashAt] = hash
    words[at + keyBytesAt] = key.byteLength
    const keyWords = key.words
    const keyLength = (key.byteLength + 3) >> 2
    for (let i = 0, to = at + keyAt; i < keyLength; i++) words[to + i] = keyWords[i] ?? 0
    this.renew(at, window, unitSeconds)
    return at
  }

  #index(hash: number, at: number): void {
    const { words } = this
    const mask = this.#mask
    let slot = hash & mask
    while (words[slot] !== 0) slot = (slot + 1) & mask
    words[slot] = ((hash << 13) & 0xff000000) | (at >> 1)
    this.size++
  }

  /** Gives a record to another window, with 0 in its first float64. */
  renew(at: number, window: number, unitSeconds: number): void {
    this.floats[at >> 1] = 0
    this.floats[(at + windowAt) >> 1] = window
    this.words[at + unitAt] = unitSeconds
    this.earliestEnd = Math.min(this.earliestEnd, window + unitSeconds)
  }

  /** Keeps a record for the longest of the units that count in it. */
  prolong(at: number, unitSeconds: number): void {
    if ((this.words[at + unitAt] ?? 0) < unitSeconds) this.words[at + unitAt] = unitSeconds
  }

  /** Nothing finds the record any more, and it is stale at any time. */
  remove(at: number): void {
    this.floats[(at + windowAt) >> 1] = Number.NEGATIVE_INFINITY
    this.earliestEnd = Number.NEGATIVE_INFINITY
  }

  isRemoved(at: number): boolean {
    return this.floats[(at + windowAt) >> 1] === Number.NEGATIVE_INFINITY
  }

  endOf(at: number): number {
    return (this.floats[(at + windowAt) >> 1] ?? 0) + (this.words[at + unitAt] ?? 0)
  }

  isStale(at: number, nowSeconds: number): boolean {
    return this.endOf(at) <= nowSeconds
  }

  hashOf(at: number): number {
    return this.words[at + hashAt] ?? 0
  }

  /** The first record, or 0. */
  first(): number {
    return this.size === 0 ? 0 : this.#mask + 1
  }

  /** The record behind this one, or 0. */
  next(at: number): number {
    const next = at + this.wordsOf(at)
    return next < this.#next ? next : 0
  }

  wordsOf(at: number): number {
    return toRecordWords(this.words[at + keyBytesAt] ?? 0)
  }

  /** Appends records of another page that lie side by side. There must be room. */
  copy(from: Page, start: number, end: number): void {
    const { words } = this
    // Natively, because a resizable buffer is slow to go through word by word.
    words.set(from.words.subarray(start, end), this.#next)
    const next = this.#next + end - start
    for (let at = this.#next; at < next; at += this.wordsOf(at)) {
      this.#index(this.hashOf(at), at)
      this.earliestEnd = Math.min(this.earliestEnd, this.endOf(at))
    }
    this.#next = next
  }

  /** What is not stale. Looks at the records only when one of them can be. */
  measureLive(nowSeconds: number): Extent {
    if (this.earliestEnd > nowSeconds) return { records: this.size, words: this.usedWords }
    let [records, words, earliestEnd] = [0, 0, Number.POSITIVE_INFINITY]
    for (let at = this.first(); at !== 0; at = this.next(at)) {
      const end = this.endOf(at)
      earliestEnd = Math.min(earliestEnd, end)
      if (end <= nowSeconds) continue
      records++
      words += this.wordsOf(at)
    }
    this.earliestEnd = earliestEnd
    return { records, words }
  }

  /** Gives the memory back. The page is not to be used any more. */
  free(): void {
    this.#buffer.resize(0)
  }

  clear(): void {
    this.words.fill(0, 0, this.#mask + 1)
    this.#next = this.#mask + 1
    this.size = 0
    this.earliestEnd = Number.POSITIVE_INFINITY
  }
}
