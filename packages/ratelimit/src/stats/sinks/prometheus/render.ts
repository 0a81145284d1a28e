import { Pace, sortInSlices } from '../../slices.ts'
import type { Families, Family, Histogram, Row } from './families.ts'
import { escapeHelp, toValueText } from './mapping.ts'

const chunkCharacters = 32 << 10

/** The text format 0.0.4 in chunks, in slices. */
export async function* renderFamilies(families: Families): AsyncGenerator<string> {
  const pace = new Pace()
  let chunk = ''
  for (const [name, family] of await sortFamilies(families, pace)) {
    let hasBegun = false
    for (const lines of toLines(name, family)) {
      if (!hasBegun) chunk += toHead(name, family)
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

/** By name. There may be as many as there are rules: a mapping file can give each its own. */
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

function toHead(name: string, { help, type }: Family): string {
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`
}

/** From a copy: what is forgotten and comes back meanwhile must not be listed twice. */
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
