import { Pace, sortInSlices } from '../slices.ts'
import type { Families, Family, Row } from './families.ts'
import type { Histogram } from './histogram.ts'
import { escapeComment, toValueText } from './text.ts'

/** The media type of the text format that `renderFamilies` writes. */
export const pageType = 'text/plain; version=0.0.4; charset=utf-8'

const chunkCharacters = 32 << 10

/** Writes the text format 0.0.4 in chunks, and yields to the event loop between them. */
export async function* renderFamilies(families: Families): AsyncGenerator<string> {
  const pace = new Pace()
  let chunk = ''
  for (const [name, family] of await sortFamilies(families, pace)) {
    let hasBegun = false
    for (const lines of toLines(name, family)) {
      if (!hasBegun) chunk += toHeadLines(family)
      hasBegun = true
      chunk += lines
      if (chunk.length < chunkCharacters) continue
      yield chunk
      chunk = ''
      await pace.step()
    }
  }
  yield chunk
}

/** Sorts by name, in slices: a mapping file of the rate limit service can give each rule its own name. */
async function sortFamilies(families: Families, pace: Pace): Promise<[string, Family][]> {
  const sorted: [string, Family][] = []
  for (const entry of families) {
    sorted.push(entry)
    const pause = pace.step()
    if (pause !== undefined) await pause
  }
  await sortInSlices(sorted, ([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted
}

function toHeadLines({ type, head: { name, help, unit } }: Family): string {
  const unitLine = unit === undefined ? '' : `# UNIT ${name} ${escapeComment(unit)}\n`
  return `# HELP ${name} ${escapeComment(help)}\n${unitLine}# TYPE ${name} ${type}\n`
}

/** Iterates over a copy, because a series that is removed and added again meanwhile must not be printed twice. */
function* toLines(name: string, family: Family): Generator<string> {
  if (family.type === 'histogram') {
    for (const histogram of [...family.series.values()]) yield toHistogramLines(name, histogram)
  } else {
    const rows = [...family.table.shown]
    for (const row of rows) yield toRowLine(name, row, family.column)
  }
}

function toRowLine(name: string, { labels, values }: Row, column: number): string {
  return `${name}${labels} ${toValueText(values[column] ?? 0)}\n`
}

function toHistogramLines(name: string, { labels, bounds, counts, sum }: Histogram): string {
  const start = labels === '' ? '{' : `${labels.slice(0, -1)},`
  let lines = ''
  let count = 0
  for (const [at, inBucket] of counts.entries()) {
    count += inBucket
    const bound = bounds[at] ?? Number.POSITIVE_INFINITY
    lines += `${name}_bucket${start}le="${toValueText(bound)}"} ${count}\n`
  }
  return `${lines}${name}_sum${labels} ${toValueText(sum)}\n${name}_count${labels} ${count}\n`
}
