import type { OverLimitCache } from '../decide/decision.ts'
import { type AnyKey, type EncodedKey, KeyBytes } from '../structures/key-bytes.ts'
import { Page } from '../structures/key-page.ts'

/*
 * Refuses a counter that is known to be over its limit without the store, as in envoyproxy/ratelimit. Its gain was not
 * measured separately from the key pages that it uses: see structures/key-page.ts.
 */

export interface LocalCacheSettings {
  /** Raised to at least 512 KiB, as in envoyproxy/ratelimit. */
  readonly sizeInBytes: number
  /** The wall clock in milliseconds. */
  readonly now: () => number
}

const leastBytes = 512 * 1024
/** Dropping a generation is the longest pause, so larger caches have more cells instead of larger ones. */
const generationBytes = 512 * 1024
const longestKeyBytes = 65_535

/** The content of the first two words of a record. */
const limitAt = 0
const accessSecondAt = 1

/**
 * A part of the cache with two generations. Entries are added to the young one; when it is full, it becomes
 * the old one, and the previous old one is dropped, except for entries that were used in the meantime. So
 * the least recently used entries are dropped first, without a list.
 */
interface Cell {
  young: Page
  old: Page
}

/**
 * Remembers counters that are over their limits, so that they are refused without the store. Each entry
 * contains the limit that was exceeded: a higher limit is not refused. The fields are the gauges
 * `ratelimit.localcache.*`, with the same meaning as in envoyproxy/ratelimit.
 */
export function createLocalCache(settings: LocalCacheSettings): LocalCache {
  return new LocalCache(settings)
}

export class LocalCache implements OverLimitCache {
  readonly #now: () => number
  readonly #bytes = new KeyBytes()
  readonly #generationBytes: number
  readonly #cells: (Cell | undefined)[]
  #accessSeconds = 0
  /** Entries that were moved to the young generation because they were used. */
  evacuateCount = 0
  /** Entries that were found or dropped after their window had ended. */
  expiredCount = 0
  entryCount = 0
  hitCount = 0
  missCount = 0
  /** Entries that already existed when they were added. */
  overwriteCount = 0

  constructor({ sizeInBytes, now }: LocalCacheSettings) {
    this.#now = now
    const bytes = Math.max(leastBytes, sizeInBytes)
    const bits = Math.max(0, Math.min(16, Math.round(Math.log2(bytes / (2 * generationBytes)))))
    this.#cells = Array.from({ length: 1 << bits }, () => undefined)
    this.#generationBytes = Math.floor(bytes / (2 * this.#cells.length))
  }

  get lookupCount(): number {
    return this.hitCount + this.missCount
  }

  /** The average Unix second at which the entries were last used. */
  get averageAccessTime(): number {
    return this.entryCount === 0 ? 0 : Math.floor(this.#accessSeconds / this.entryCount)
  }

  /**
   * Whether the counter is known to be over this limit. Hot path.
   * @param now - the Unix time in seconds, if the caller has it: reading the clock takes a third of the lookup
   */
  isOver(
    key: AnyKey,
    window: number,
    requestsPerUnit: number,
    now: number = this.#nowSeconds(),
  ): boolean {
    const encoded = this.#bytes.encode(key)
    const { hash } = encoded
    const cell = this.#cells[this.#toCell(hash)]
    if (cell === undefined) return this.#miss()
    let page = cell.young
    let at = page.find(encoded, hash, window)
    if (at === 0) {
      page = cell.old
      at = page.find(encoded, hash, window)
      if (at === 0) return this.#miss()
    }
    if (page.isStale(at, now)) {
      this.#forget(page, at, now)
      return this.#miss()
    }
    if (toLimit(page, at) < requestsPerUnit) return this.#miss()
    this.hitCount++
    this.#touch(page, at, now)
    if (page === cell.old) this.#evacuate(cell, at, encoded, window, now)
    return true
  }

  /** Remembers until the end of the window that the counter is over this limit. */
  add(
    key: AnyKey,
    window: number,
    unitSeconds: number,
    requestsPerUnit: number,
    now: number = this.#nowSeconds(),
  ): void {
    const encoded = this.#bytes.encode(key)
    const { hash } = encoded
    if (encoded.byteLength > longestKeyBytes) return
    const cell = this.#openCell(hash)
    let page = cell.young
    let at = page.find(encoded, hash, window)
    if (at === 0) {
      page = cell.old
      at = page.find(encoded, hash, window)
    }
    if (at === 0) {
      this.#insert(cell, encoded, window, unitSeconds, requestsPerUnit, now)
      return
    }
    this.overwriteCount++
    // A counter that is over a limit is over every lower one.
    page.words[at + limitAt] = Math.max(toLimit(page, at), requestsPerUnit)
    page.prolong(at, unitSeconds)
    this.#touch(page, at, now)
  }

  /** Removes a counter, because a refund may have brought it below its limit again. */
  delete(key: AnyKey, window: number): void {
    const encoded = this.#bytes.encode(key)
    const { hash } = encoded
    const cell = this.#cells[this.#toCell(hash)]
    if (cell === undefined) return
    for (const page of [cell.young, cell.old]) {
      const at = page.find(encoded, hash, window)
      if (at !== 0) this.#forget(page, at, Number.NEGATIVE_INFINITY)
    }
  }

  /** Uses bits of the hash that have no role within a page. */
  #toCell(hash: number): number {
    return (hash >>> 16) & (this.#cells.length - 1)
  }

  #nowSeconds(): number {
    return Math.floor(this.#now() / 1000)
  }

  #miss(): false {
    this.missCount++
    return false
  }

  #openCell(hash: number): Cell {
    const index = this.#toCell(hash)
    const cell = this.#cells[index]
    if (cell !== undefined) return cell
    // An eighth for the index is enough for entries of 40 bytes.
    const room = {
      records: (this.#generationBytes * 3) / 256,
      words: Math.floor((this.#generationBytes * 7) / 64) * 2,
    }
    const opened = { young: new Page(room), old: new Page(room) }
    this.#cells[index] = opened
    return opened
  }

  #insert(
    cell: Cell,
    key: EncodedKey,
    window: number,
    unitSeconds: number,
    limit: number,
    now: number,
  ): void {
    const { hash } = key
    const stale = cell.young.findStale(key, hash, now)
    if (stale !== 0) {
      if (!cell.young.isRemoved(stale)) this.#forget(cell.young, stale, now)
      cell.young.renew(stale, window, unitSeconds)
    }
    let at = stale !== 0 ? stale : cell.young.insert(key, hash, window, unitSeconds)
    if (at === 0) {
      this.#rotate(cell, now)
      at = cell.young.insert(key, hash, window, unitSeconds)
    }
    cell.young.words[at + limitAt] = limit
    cell.young.words[at + accessSecondAt] = now
    this.entryCount++
    this.#accessSeconds += now
  }

  /** Moves the entry of the key from the old generation to the young one. */
  #evacuate(cell: Cell, at: number, key: EncodedKey, window: number, now: number): void {
    const limit = toLimit(cell.old, at)
    const unitSeconds = cell.old.endOf(at) - window
    this.#forget(cell.old, at, Number.NEGATIVE_INFINITY)
    this.#insert(cell, key, window, unitSeconds, limit, now)
    this.evacuateCount++
  }

  #rotate(cell: Cell, now: number): void {
    const { young, old } = cell
    for (let at = old.first(); at !== 0; at = old.next(at)) {
      if (!old.isRemoved(at)) this.#forget(old, at, now)
    }
    old.clear()
    cell.young = old
    cell.old = young
  }

  #touch(page: Page, at: number, now: number): void {
    this.#accessSeconds += now - toAccessSecond(page, at)
    page.words[at + accessSecondAt] = now
  }

  #forget(page: Page, at: number, now: number): void {
    if (page.isStale(at, now)) this.expiredCount++
    this.entryCount--
    this.#accessSeconds -= toAccessSecond(page, at)
    page.remove(at)
  }
}

function toLimit(page: Page, at: number): number {
  return (page.words[at + limitAt] ?? 0) >>> 0
}

function toAccessSecond(page: Page, at: number): number {
  return (page.words[at + accessSecondAt] ?? 0) >>> 0
}
