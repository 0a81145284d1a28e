import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The executed parts of a file, separately for each process and thread. */
export type Coverage = ReadonlyMap<string, readonly (readonly CoveredRange[])[]>

interface CoveredRange {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

interface ScriptCoverage {
  readonly url: string
  readonly functions: readonly { readonly ranges: readonly CoveredRange[] }[]
}

/** Reads the files that processes wrote to NODE_V8_COVERAGE. A killed process writes nothing. */
export function readCoverage(folder: string, root: string): Coverage {
  const coverage = new Map<string, CoveredRange[][]>()
  for (const name of globSync('*.json', { cwd: folder })) {
    const { result }: { result: ScriptCoverage[] } = JSON.parse(
      readFileSync(join(folder, name), 'utf8'),
    )
    for (const { url, functions } of result) {
      if (!url.startsWith('file:') || url.includes('/node_modules/')) continue
      const file = relative(root, fileURLToPath(url))
      const ranges = functions.flatMap((each) => each.ranges)
      coverage.set(file, [...(coverage.get(file) ?? []), ranges])
    }
  }
  return coverage
}

/** The innermost range around an offset determines whether it ran. */
export function isCovered(coverage: Coverage, file: string, offset: number): boolean {
  return (coverage.get(file) ?? []).some((ranges) => {
    const around = ranges.filter((each) => each.startOffset <= offset && offset < each.endOffset)
    const size = (each: CoveredRange) => each.endOffset - each.startOffset
    const innermost = around.reduce<CoveredRange | undefined>(
      (best, each) => (best && size(best) < size(each) ? best : each),
      undefined,
    )
    return (innermost?.count ?? 0) > 0
  })
}
