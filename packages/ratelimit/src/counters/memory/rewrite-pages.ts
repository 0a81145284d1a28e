import { type Extent, Page } from '../../structures/key-page.ts'

/** A larger page is split, because rewriting a page is the longest pause. */
export const fullPageWords = 2 ** 15
const leastPageWords = 256

/** The size of a page that has room for its records and a quarter more. */
export function toRoom({ records, words }: Extent): Extent {
  const roomy = words + (words >> 2)
  const most = words > fullPageWords ? roomy : fullPageWords
  const room = Math.max(leastPageWords, Math.min(most, roomy))
  return { records: (records * room) / Math.max(words, 1) + 1, words: room }
}

/** The lowest hash with the same leading bits. */
export function startOf(hash: number, depth: number): number {
  return ((hash >>> (32 - depth)) << (32 - depth)) >>> 0
}

/** Adjacent records of a page. */
interface Run {
  readonly page: Page
  readonly start: number
  end: number
}

/**
 * Builds a page from the live records of other pages that belong to this hash and depth, with room for more
 * words.
 */
export function packPages(
  from: readonly Page[],
  hash: number,
  depth: number,
  more: number,
  now: number,
): Page {
  const start = startOf(hash, depth)
  const runs: Run[] = []
  let [records, words] = [0, more]
  for (const page of from) {
    for (let at = page.first(); at !== 0; at = page.next(at)) {
      if (page.isStale(at, now) || startOf(page.hashOf(at), depth) !== start) continue
      const end = at + page.wordsOf(at)
      records++
      words += end - at
      const last = runs.at(-1)
      if (last?.page === page && last.end === at) last.end = end
      else runs.push({ page, start: at, end })
    }
  }
  const packed = new Page(toRoom({ records, words }), depth)
  for (const run of runs) packed.copy(run.page, run.start, run.end)
  return packed
}

/**
 * Drops the quarter of the counters in a page with the fewest hits: a flood of new values evicts
 * itself, and counters near or over their limits stay.
 * @returns the number of dropped counters
 */
export function dropFewestHits(page: Page, { records }: Extent, now: number): number {
  const counts = new Float64Array(records)
  let found = 0
  for (let at = page.first(); at !== 0; at = page.next(at)) {
    if (!page.isStale(at, now)) counts[found++] = page.floats[at >> 1] ?? 0
  }
  counts.sort()
  const quarter = Math.max(1, records >> 2)
  let left = quarter
  const most = counts[quarter - 1] ?? 0
  for (let at = page.first(); at !== 0 && left > 0; at = page.next(at)) {
    if (page.isStale(at, now) || (page.floats[at >> 1] ?? 0) > most) continue
    page.remove(at)
    left--
  }
  return quarter - left
}
