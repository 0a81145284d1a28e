import type { KeyRange } from './key-bytes.ts'

/*
 * Measured with 1,000,000 counters against a `Map` of objects (bench/hot.bench.ts, CPU time on an overloaded machine with 2 cores,
 * five runs). Advantages of pages: the slowest 100 insertions take 10 to 27 ms, in a `Map` 46 to 85 ms, because only a full
 * page is split, never the whole table; and their bytes can be counted, so that MEMORY_STORE_MAX_BYTES can be enforced.
 * Disadvantage: an insertion takes 1.8 to 3.3 µs, in a `Map` 0.7 to 1.0. No clear difference: a full garbage collection
 * took 73 to 147 ms with pages and 80 to 216 ms with a `Map`, but 75 to 166 ms with neither; a counter takes 92 bytes
 * including its key, in a `Map` 61 without its key.
 *
 * One buffer contains an index, followed by the records. A record, in words of 32 bits:
 *
 *     0  value         a float64, or two words
 *     2  window        float64
 *     4  unitSeconds
 *     5  hash
 *     6  keyBytes      the length of the key
 *     7  key           padded with zeros to whole words
 *
 * Records start at even words, because of the alignment of a float64. An index cell is 0 when empty;
 * otherwise 24 bits are the start of the record, in steps of two words, and 8 bits are from its hash (bits
 * 11 to 18, which select neither the cell nor the page), so that few other records are compared.
 */
const windowAt = 2
const unitAt = 4
const hashAt = 5
const keyBytesAt = 6
const keyAt = 7

/** The number of words that the 24 bits of an index cell can address. */
export const mostPageWords = 2 ** 25

/** The length in words of a record whose key has this many bytes. */
export function toRecordWords(keyBytes: number): number {
  return (keyAt + ((keyBytes + 3) >> 2) + 1) & ~1
}

/**
 * A power of two that leaves at least a quarter of the slots free for open addressing. It is computed with
 * integer operators, so that V8 treats derived positions and lengths as small integers.
 */
function toSlots(records: number): number {
  return 1 << Math.max(4, 32 - Math.clz32((records * 4) / 3))
}

/** The total size of the records of a page. */
export interface Extent {
  readonly records: number
  readonly words: number
}

export function toPageBytes(room: Extent): number {
  return (toSlots(room.records) + room.words + (room.words & 1)) * 4
}

/**
 * A table of fixed size from (key, window) to a record. Records are appended and changed in place; a
 * removed record remains as a stale record until the page is cleared or copied.
 */
export class Page {
  readonly #buffer: ArrayBuffer
  readonly words: Int32Array
  /** The same buffer. The float64 of a record at `at` is `floats[at >> 1]`. */
  readonly floats: Float64Array
  readonly #mask: number
  #next: number
  /** The number of records, including stale ones. */
  size = 0
  /** No window of a record ends before this second. */
  earliestEnd = Number.POSITIVE_INFINITY
  /** The number of high bits that the hashes of all records share. */
  readonly depth: number

  constructor(room: Extent, depth = 0) {
    const slots = toSlots(room.records)
    const bytes = toPageBytes(room)
    // A resizable buffer has its own memory mapping outside the malloc heap, and `free` returns it to the
    // system immediately. A plain one waits for garbage collection and then stays in the process.
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

  /** The words of all records, including stale ones. */
  get usedWords(): number {
    return this.#next - this.#mask - 1
  }

  /** Returns the record of the key in the window, or 0. */
  find(key: KeyRange, hash: number, window: number): number {
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

  /** Returns a record of the key in any window that has ended, or 0. */
  findStale(key: KeyRange, hash: number, nowSeconds: number): number {
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

  #hasKey(at: number, key: KeyRange, hash: number): boolean {
    const { words } = this
    const { byteLength } = key
    if (words[at + hashAt] !== hash || words[at + keyBytesAt] !== byteLength) return false
    const { words: keyWords, start } = key
    const length = (byteLength + 3) >> 2
    for (let i = 0, from = at + keyAt; i < length; i++) {
      if (words[from + i] !== keyWords[start + i]) return false
    }
    return true
  }

  /** Returns a new record with 0 in its first float64, or 0 when the page is full. */
  insert(key: KeyRange, hash: number, window: number, unitSeconds: number): number {
    const length = toRecordWords(key.byteLength)
    const fits = this.#next + length <= this.words.length
    if (!fits || (this.size + 1) * 4 > (this.#mask + 1) * 3) return 0
    const { words } = this
    const at = this.#next
    this.#next += length
    this.#index(hash, at)
    words[at + hashAt] = hash
    words[at + keyBytesAt] = key.byteLength
    const { words: keyWords, start } = key
    const keyLength = (key.byteLength + 3) >> 2
    for (let i = 0, to = at + keyAt; i < keyLength; i++) words[to + i] = keyWords[start + i] ?? 0
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

  /** Reuses a record for another window, with 0 in its first float64. */
  renew(at: number, window: number, unitSeconds: number): void {
    this.floats[at >> 1] = 0
    this.floats[(at + windowAt) >> 1] = window
    this.words[at + unitAt] = unitSeconds
    this.earliestEnd = Math.min(this.earliestEnd, window + unitSeconds)
  }

  /** Keeps a record for the longest unit that uses it. */
  prolong(at: number, unitSeconds: number): void {
    if ((this.words[at + unitAt] ?? 0) < unitSeconds) this.words[at + unitAt] = unitSeconds
  }

  /** Makes the record stale, so that it is not found any more. */
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

  /** The next record, or 0. */
  next(at: number): number {
    const next = at + this.wordsOf(at)
    return next < this.#next ? next : 0
  }

  wordsOf(at: number): number {
    return toRecordWords(this.words[at + keyBytesAt] ?? 0)
  }

  /** Appends adjacent records of another page. There must be room. */
  copy(from: Page, start: number, end: number): void {
    const { words } = this
    // A native copy, because accessing a resizable buffer word by word is slow.
    words.set(from.words.subarray(start, end), this.#next)
    const next = this.#next + end - start
    for (let at = this.#next; at < next; at += this.wordsOf(at)) {
      this.#index(this.hashOf(at), at)
      this.earliestEnd = Math.min(this.earliestEnd, this.endOf(at))
    }
    this.#next = next
  }

  /** The size of the records that are not stale. Reads the records only if one of them can be stale. */
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

  /** Releases the memory. The page must not be used afterwards. */
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
