import { type AnyKey, type EncodedKey, KeyBytes } from '../../structures/key-bytes.ts'
import {
  type Extent,
  mostPageWords,
  Page,
  toPageBytes,
  toRecordWords,
} from '../../structures/key-page.ts'
import { type EncodedIncrement, keyOf } from '../counter-store.ts'
import { toShare } from '../sliding-window.ts'
import { dropFewestHits, fullPageWords, packPages, startOf, toRoom } from './rewrite-pages.ts'

/** A page with fewer records is never split, however long they are. */
const fewestRecords = 8
/** Pages are merged up to this total, so that they are not split again immediately. */
const mergedPageWords = fullPageWords / 2
/** A deeper directory would take too long to copy. */
const deepest = 18

/**
 * Fixed windows start at whole seconds. Sliding windows are stored half a second later, so that they do not share a
 * record with a fixed window of the same name.
 */
const apartSeconds = 0.5

export interface TableSettings {
  /** The time that decides which windows have ended, in Unix seconds. */
  readonly nowSeconds: () => number
  /** The maximum memory of all pages; it can be exceeded by about one page. */
  readonly maxBytes: number
  /** Whether a full table drops counters for a new one instead of refusing it. */
  readonly evicts: boolean
}

export type SlidingCounter = Omit<EncodedIncrement, 'hits' | 'isStrict'>

/** There is no room for another counter. */
export class TableFullError extends Error {
  override readonly name = 'TableFullError'
}

/**
 * Counters by key and window, in as many small pages as they need (extendible hashing). The high
 * bits of a key's hash choose the page. A full page is split in two and nearly empty neighbours are
 * merged, so nothing rewrites more than a page or two at once, whatever the number of counters.
 */
export class CounterTable {
  readonly #settings: TableSettings
  readonly #bytes = new KeyBytes()
  /** Pages by the first `#depth` bits of the hash. A page of lower depth has several entries. */
  #directory: Page[]
  #depth = 1
  /** The number of pages of each depth. */
  readonly #pagesOf: number[] = Array.from({ length: deepest + 1 }, () => 0)
  /** The hash at which the sweep continues. */
  #sweepAt = 0
  /** The number of counters, including expired ones that were not dropped yet. */
  size = 0
  bytes = 0
  /** The number of counters that were dropped before their window ended. */
  evicted = 0
  /** Words moved and records checked so far, which determine how long a pause is. */
  work = 0

  constructor(settings: TableSettings) {
    this.#settings = settings
    const empty = { records: 0, words: 0 }
    const halves = [new Page(toRoom(empty), 1), new Page(toRoom(empty), 1)]
    this.#directory = halves
    for (const half of halves) this.#account(half, 1)
  }

  get pages(): number {
    return this.#pagesOf.reduce((sum, pages) => sum + pages, 0)
  }

  /** Changes a count and returns the new count. Hot path. */
  add(key: AnyKey, window: number, unitSeconds: number, hits: number): number {
    const encoded = this.#bytes.encode(key)
    const { hash } = encoded
    const page = this.#pageOf(hash)
    const at = page.find(encoded, hash, window)
    if (at === 0) return hits > 0 ? this.#start(encoded, window, unitSeconds, hits) : 0
    page.prolong(at, unitSeconds)
    const count = Math.max(0, (page.floats[at >> 1] ?? 0) + hits)
    page.floats[at >> 1] = count
    return count
  }

  read(key: AnyKey, window: number): number {
    const encoded = this.#bytes.encode(key)
    const page = this.#pageOf(encoded.hash)
    const at = page.find(encoded, encoded.hash, window)
    return at === 0 ? 0 : (page.floats[at >> 1] ?? 0)
  }

  /** Adds hits to a sliding counter if there is room, and sets its counts. Hot path. */
  slide(counter: SlidingCounter, hits: number): void {
    const { window, unitSeconds, most, overlapMs } = counter
    const key = this.#bytes.encode(keyOf(counter))
    const { hash } = key
    const page = this.#pageOf(hash)
    const place = window + apartSeconds
    const at = page.find(key, hash, place)
    const before = page.find(key, hash, place - unitSeconds)
    const previous = before === 0 ? 0 : (page.floats[before >> 1] ?? 0)
    const share = toShare(previous, overlapMs, unitSeconds)
    const current = at === 0 ? 0 : (page.floats[at >> 1] ?? 0)
    counter.previous = previous
    counter.after = Math.max(0, current + hits) + share
    if (hits === 0 || (hits > 0 && counter.after > most)) return
    // It is kept one window longer, in which it is the previous window.
    const lifeSeconds = 2 * unitSeconds
    if (at !== 0) {
      page.prolong(at, lifeSeconds)
      page.floats[at >> 1] = counter.after - share
    } else if (hits > 0) {
      this.#start(key, place, lifeSeconds, hits)
    }
  }

  /**
   * Continues to drop expired counters and to release memory, for a share of all pages. It handles at least
   * one page, and stops at the end of the table or after that many records.
   */
  sweep(share: number, mostRecords: number): void {
    const now = this.#settings.nowSeconds()
    const until = Math.min(2 ** 32, this.#sweepAt + share * 2 ** 32)
    let seen = 0
    do {
      const hash = this.#sweepAt
      seen += this.#tidy(hash, this.#pageOf(hash), now)
      while (this.#merge(hash, now));
      const { depth } = this.#pageOf(hash)
      this.#sweepAt = startOf(hash, depth) + 2 ** (32 - depth)
    } while (this.#sweepAt < until && seen < mostRecords)
    if (this.#sweepAt === 2 ** 32) this.#sweepAt = 0
  }

  /** Releases all memory. The table must not be used afterwards. */
  free(): void {
    for (const page of new Set(this.#directory)) page.free()
  }

  #pageOf(hash: number): Page {
    const page = this.#directory[hash >>> (32 - this.#depth)]
    if (page === undefined) throw new Error('the directory has no page for a hash')
    return page
  }

  /** Counts the first hits of a key in a window. An expired counter of the key is reused. */
  #start(key: EncodedKey, window: number, unitSeconds: number, hits: number): number {
    const { hash } = key
    const now = this.#settings.nowSeconds()
    let page = this.#pageOf(hash)
    let at = page.findStale(key, hash, now)
    if (at !== 0) {
      page.renew(at, window, unitSeconds)
    } else {
      at = page.insert(key, hash, window, unitSeconds)
      while (at === 0) {
        this.#makeRoom(hash, page, toRecordWords(key.byteLength), now)
        page = this.#pageOf(hash)
        at = page.insert(key, hash, window, unitSeconds)
      }
      this.size++
    }
    page.floats[at >> 1] = hits
    return hits
  }

  /** Drops expired counters; if that is not enough, splits the page or lets it grow. */
  #makeRoom(hash: number, page: Page, recordWords: number, now: number): void {
    this.work += page.earliestEnd <= now ? page.size : 1
    let live = page.measureLive(now)
    if (live.words + recordWords > mostPageWords / 2) this.#refuse()
    while (!this.#fits(page, live, recordWords)) {
      if (!this.#settings.evicts || live.records === 0) this.#refuse()
      this.evicted += dropFewestHits(page, live, now)
      this.work += 2 * page.size
      live = page.measureLive(now)
    }
    const words = live.words + recordWords
    if (words > fullPageWords && live.records >= fewestRecords && page.depth < deepest) {
      this.#split(hash, page, now)
    } else {
      this.#replace([page], [this.#pack([page], hash, page.depth, recordWords, now)], hash)
    }
  }

  /** Whether the live records of the page and one more record fit. */
  #fits(page: Page, live: Extent, recordWords: number): boolean {
    const room = toRoom({ records: live.records + 1, words: live.words + recordWords })
    const growth = toPageBytes(room) - page.byteLength
    return growth <= 0 || this.bytes + growth <= this.#settings.maxBytes
  }

  #refuse(): never {
    throw new TableFullError(`${this.size} counters take ${this.bytes} bytes`)
  }

  #split(hash: number, page: Page, now: number): void {
    const depth = page.depth + 1
    if (depth > this.#depth) this.#doubleDirectory()
    const start = startOf(hash, page.depth)
    const middle = start + 2 ** (32 - depth)
    const halves = [start, middle].map((from) => this.#pack([page], from, depth, 0, now))
    this.#replace([page], halves, start)
  }

  /** Rewrites a page if many of its counters have expired. Returns the number of records it checked. */
  #tidy(hash: number, page: Page, now: number): number {
    if (page.earliestEnd > now) return 0
    const { size } = page
    this.work += size
    const live = page.measureLive(now)
    const isWorthIt = (size - live.records) * 4 >= size
    if (isWorthIt && toPageBytes(toRoom(live)) <= page.byteLength) {
      const left = live.records === 0 ? [] : [page]
      this.#replace([page], [this.#pack(left, hash, page.depth, 0, now)], hash)
    }
    return size
  }

  /** Merges two nearly empty adjacent pages. Returns false when there are none. */
  #merge(hash: number, now: number): boolean {
    const page = this.#pageOf(hash)
    const { depth } = page
    if (depth === 1 || page.usedWords > mergedPageWords) return false
    const other = this.#pageOf(hash ^ (1 << (32 - depth)))
    if (other.depth !== depth || page.usedWords + other.usedWords > mergedPageWords) return false
    const merged = this.#pack([page, other], hash, depth - 1, 0, now)
    this.#replace([page, other], [merged], startOf(hash, depth - 1))
    while (this.#depth > 1 && this.#pagesOf[this.#depth] === 0) this.#halveDirectory()
    return true
  }

  #pack(from: readonly Page[], hash: number, depth: number, more: number, now: number): Page {
    const packed = packPages(from, hash, depth, more, now)
    for (const page of from) this.work += page.size
    this.work += packed.usedWords
    return packed
  }

  /** Replaces pages with others. `hash` belongs to the first of them. */
  #replace(before: readonly Page[], after: readonly Page[], hash: number): void {
    for (const page of before) {
      this.#account(page, -1)
      page.free()
    }
    let start = startOf(hash, after[0]?.depth ?? 1)
    for (const page of after) {
      this.#account(page, 1)
      const end = start + 2 ** (32 - page.depth)
      const unit = 2 ** (32 - this.#depth)
      this.#directory.fill(page, start / unit, end / unit)
      start = end
    }
  }

  #account(page: Page, sign: 1 | -1): void {
    this.bytes += sign * page.byteLength
    this.size += sign * page.size
    this.#pagesOf[page.depth] = (this.#pagesOf[page.depth] ?? 0) + sign
  }

  #doubleDirectory(): void {
    const directory: Page[] = []
    for (const page of this.#directory) directory.push(page, page)
    this.#directory = directory
    this.#depth++
    this.work += directory.length
  }

  #halveDirectory(): void {
    this.#directory = this.#directory.filter((_, i) => i % 2 === 0)
    this.#depth--
    this.work += this.#directory.length
  }
}
