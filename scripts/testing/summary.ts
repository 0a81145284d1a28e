import { readFileSync } from 'node:fs'
import type { LegResult } from './run-leg.ts'

export interface LegReport {
  readonly title: string
  readonly fileCount: number
  /** Undefined when the leg did not run. */
  readonly result: LegResult | undefined
}

/** The others are printed when they fail. */
const maxFailures = 20

/** The lines at the end of a test run; the last one is the total. */
export function summarize(reports: readonly LegReport[], misses: readonly string[]): string[] {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const { result } of reports) {
    sum.passed += result?.passed ?? 0
    sum.failed += result?.failed ?? 0
    sum.skipped += result?.skipped ?? 0
  }
  const width = Math.max(...reports.map(({ title }) => title.length))
  const legs = reports.map(({ title, fileCount, result }) => {
    const start = `${title.padEnd(width)}  ${`${fileCount}`.padStart(3)} files`
    if (!result) return `- ${start}  not run; on demand: npm test -- --leg ${title.split(':')[0]}`
    const mark = result.failed > 0 ? '✖' : '✔'
    return `${mark} ${start}  ${countsOf(result)}  (${result.seconds.toFixed(1)} s)`
  })
  const missing = misses.length > 0 ? [`!!! TESTS SKIPPED, missing: ${misses.join('; ')}`] : []
  const flaky = reports.flatMap(({ result }) => result?.flakyFiles ?? [])
  const flakyLines = flaky.map(
    (file) => `!!! FLAKY, failed and then passed alone; the run has failed: ${file}`,
  )
  const failures = reports.flatMap(({ result }) => result?.failures ?? [])
  const failureLines = failures.slice(0, maxFailures).map((failure) => `✖ ${failure}`)
  const more = failures.length - failureLines.length
  if (more > 0) failureLines.push(`✖ … and ${more} more`)
  return [...legs, ...listSkips(reports), ...missing, ...failureLines, ...flakyLines, countsOf(sum)]
}

/** `12 skipped: needs root on Linux`, the most frequent reason first. */
function listSkips(reports: readonly LegReport[]): string[] {
  const totals = new Map<string, number>()
  for (const { result } of reports) {
    for (const [reason, count] of Object.entries(result?.skipReasons ?? {})) {
      totals.set(reason, (totals.get(reason) ?? 0) + count)
    }
  }
  const sorted = [...totals].sort(([a, m], [b, n]) => n - m || a.localeCompare(b))
  return sorted.map(([reason, count]) => `${count} skipped: ${reason}`)
}

const countsOf = ({ passed, failed, skipped }: Pick<LegResult, 'passed' | 'failed' | 'skipped'>) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`

/** The missing programs, each once: `memcached (apt-get install memcached)`. */
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
