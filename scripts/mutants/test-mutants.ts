import { type Baseline, measureBaseline } from './baseline.ts'
import { isCovered } from './coverage.ts'
import type { Mutant } from './mutant.ts'
import { runTest } from './run-test.ts'

export interface MutantResult {
  readonly mutant: Mutant
  /** `no coverage` is also a survivor: no selected test file runs this part of the code. */
  readonly status: 'killed' | 'timeout' | 'survived' | 'no coverage'
  /** The test file that failed. */
  readonly killedBy?: string
}

export interface TestingOptions {
  readonly root: string
  readonly concurrency: number
  /** The time limit for all tests of one mutant together, measured on the unchanged code. */
  readonly budgetMs: number
  readonly env: Readonly<Record<string, string>>
}

/** Calls the function for each item, several at a time; results keep the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  call: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const work = async () => {
    for (const [index, item] of waiting) results[index] = await call(item)
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return results
}

/**
 * Runs the test files on the unchanged code. `onDone` is called after each file, with the reason if
 * the file cannot be used.
 */
export async function measureBaselines(
  tests: readonly string[],
  { root, concurrency, budgetMs, env }: TestingOptions,
  onDone: (test: string, unusable?: string) => void,
): Promise<Map<string, Baseline>> {
  const baselines = new Map<string, Baseline>()
  await mapConcurrently(tests, concurrency, async (test) => {
    const baseline = await measureBaseline(root, test, budgetMs, env)
    if ('unusable' in baseline) return onDone(test, baseline.unusable)
    baselines.set(test, baseline)
    onDone(test)
  })
  return baselines
}

/** Runs the tests that cover the mutant, nearest first, until one fails. */
export async function testMutant(
  mutant: Mutant,
  tests: readonly Baseline[],
  { root, budgetMs, env }: TestingOptions,
): Promise<MutantResult> {
  const covering = tests.filter(({ coverage }) => isCovered(coverage, mutant.file, mutant.start))
  // A killed process writes no coverage, so without any coverage, all tests are tried.
  const chosen = covering.length > 0 ? covering : tests
  let budget = budgetMs
  for (const { test, ms } of chosen) {
    budget -= ms
    if (budget < 0 && test !== chosen[0]?.test) break
    const run = { root, test, mutant, env }
    let { status } = await runTest({ ...run, limitMs: 3 * ms + 10_000 })
    // Another program may have kept the machine busy.
    if (status === 'timeout') ({ status } = await runTest({ ...run, limitMs: 6 * ms + 20_000 }))
    if (status !== 'passed') {
      return { mutant, status: status === 'failed' ? 'killed' : 'timeout', killedBy: test }
    }
  }
  return { mutant, status: covering.length > 0 ? 'survived' : 'no coverage' }
}
