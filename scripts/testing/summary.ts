import { readFileSync } from 'node:fs'
import type { LegResult } from './run-leg.ts'

/** The lines that end a test run; the last one adds everything up. */
export function summarize(
  results: ReadonlyMap<string, LegResult>,
  misses: readonly string[],
): string[] {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const { passed, failed, skipped } of results.values()) {
    sum.passed += passed
    sum.failed += failed
    sum.skipped += skipped
  }
  const width = Math.max(...[...results.keys()].map((title) => title.length))
  const legs = [...results].map(([title, result]) => {
    const mark = result.failed > 0 ? '✖' : '✔'
    return `${mark} ${title.padEnd(width)}  ${countsOf(result)}  (${result.seconds.toFixed(1)} s)`
  })
  const loud = misses.length > 0 ? [`!!! TESTS SKIPPED, missing: ${misses.join('; ')}`] : []
  const unsteady = [...results.values()].flatMap((result) => result.unsteadyFiles ?? [])
  const again = unsteady.map((file) => `!!! UNSTEADY, passed only when it ran alone: ${file}`)
  return [...legs, ...loud, ...again, countsOf(sum)]
}

const countsOf = ({ passed, failed, skipped }: Pick<LegResult, 'passed' | 'failed' | 'skipped'>) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`

/** What the tests missed, each program once: `memcached (apt-get install memcached)`. */
export function readMisses(file: string): string[] {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  const lines = text.split('\n').filter((line) => line !== '')
  const misses = lines.map((line) => {
    const { program, installCommand } = JSON.parse(line)
    return `${program} (${installCommand})`
  })
  return [...new Set(misses)].sort()
}
