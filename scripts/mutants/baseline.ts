import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Coverage, readCoverage } from './coverage.ts'
import { runTest } from './run-test.ts'

/** A test file that passes on the unchanged code. */
export interface Baseline {
  readonly test: string
  readonly ms: number
  readonly coverage: Coverage
}

/**
 * Runs a test file on the unchanged code. Returns a reason if it cannot be used against mutants.
 */
export async function measureBaseline(
  root: string,
  test: string,
  limitMs: number,
  env: Readonly<Record<string, string>>,
): Promise<Baseline | { readonly test: string; readonly unusable: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'mutant-coverage-'))
  try {
    // Functions from the compile cache are missing in the coverage.
    const { NODE_COMPILE_CACHE, ...rest } = env
    const run = { root, test, limitMs, env: { ...rest, NODE_V8_COVERAGE: folder } }
    const { status, passedTests, ms, output } = await runTest(run)
    if (status === 'timeout') return { test, unusable: `takes longer than ${limitMs / 1000} s` }
    if (status === 'failed') return { test, unusable: `fails without a mutant\n${output.trim()}` }
    if (passedTests === 0) return { test, unusable: 'skips all its tests' }
    return { test, ms, coverage: readCoverage(folder, root) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
