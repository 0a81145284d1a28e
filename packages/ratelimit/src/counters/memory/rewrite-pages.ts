import { type Extent, Page } from '../../hot/index.ts'

/** A page that would hold more is split: rewriting one is the longest pause there is. */
export const fullPageWords = 2 ** 15
const leastPageWords = 256

/** How large a page is made so that its records and a quarter more fit. */
export function toRoom({ records, words }: Extent): Extent {
  const roomy = words + (words >> 2)
  const most = words > fullPageWords ? roomy : fullPageWords
  const room = Math.max(leastPageWords, Math.min(most, roomy))
  return { records: (records * room) / Math.max(words, 1) + 1, words: room }
}

/** The lowest hash that begins with the same bits. */
export function startOf(hash: number, depth: number): number {
  return ((hash >>> (32 - depth)) << (32 - depth)) >>> 0
}

/** Records of a page that lie side by side. */
interface Run {
  readonly page: Page
  readonly start: number
  end: number
}

/** A page of those live records of others that the hash leads to at this depth, with room for more words. */
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
 * Drops a quarter of the counters in a page, those with the fewest hits: a flood of new values
 * drops itself, and what is near or over its limit stays.
 * @returns how many were dropped
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
