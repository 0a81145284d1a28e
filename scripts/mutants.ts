// Mutation tests: makes small changes to the code and reports the changes that no test detects.
//
//   npm run mutants -- packages/ratelimit/src/decide --sample 100

import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { createProgress } from '@portcullis/bench-kit/progress'
import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { findMutants } from './mutants/find-mutants.ts'
import { readImports } from './mutants/import-graph.ts'
import type { Mutant } from './mutants/mutant.ts'
import { findNearestTests } from './mutants/nearest-tests.ts'
import { type Options, parseOptions, UsageError, usage } from './mutants/options.ts'
import { isKilled, readResults, toReport, toScore } from './mutants/report.ts'
import { takeSample } from './mutants/sample.ts'
import { mapConcurrently, measureBaselines, testMutant } from './mutants/test-mutants.ts'
import { openCommonPostgres } from './testing/common-postgres.ts'
import { findTestFiles } from './testing/test-files.ts'

const root = dirname(import.meta.dirname)
// Without this, the exit handlers that end the test processes would not run.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

try {
  const options = parseOptions(process.argv.slice(2), root)
  if (options) process.exitCode = await main(options)
  else console.log(usage)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(toArgumentError('npm run mutants --', error.message))
  process.exitCode = 2
}

async function main(options: Options): Promise<number> {
  const all = options.files.flatMap((file) => findMutants(root, file))
  const earlier = options.again ? readResults(options.again) : []
  const survivors = earlier.filter((result) => !isKilled(result))
  const mutants = options.again
    ? survivors.map(({ mutant }) => findAgain(mutant, all))
    : takeSample(all, options.sample, options.seed)
  const tests = chooseTests([...new Set(mutants.map(({ file }) => file))], options)
  if (options.isList) return list(mutants, tests)

  const wanted = [...new Set([...tests.values()].flat())]
  // Each mutant starts the tests again, so a shared server is worthwhile even for a single file.
  const wantedFiles = findTestFiles().filter((file) => wanted.includes(file.path))
  await using postgres = await openCommonPostgres(wantedFiles, 1)
  const testing = {
    root,
    // Most tests wait for servers; more than two at a time disturb each other on a small machine.
    concurrency: Math.min(2, availableParallelism()),
    budgetMs: options.budgetMs,
    env: {
      ...postgres.env,
      // Entries are keyed by the content of a module, so a mutant never gets the code of another.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/portcullis-mutants'),
    },
  }

  const progress = createProgress()
  let done = 0
  const baselines = await measureBaselines(wanted, testing, (test, unusable) => {
    if (unusable) progress.note(`${test} is not used: it ${unusable}\n`)
    progress.show(++done, wanted.length, 'test files run without a mutant')
  })
  progress.end()

  const mutantProgress = createProgress()
  let [tested, killed] = [0, 0]
  const newResults = await mapConcurrently(mutants, testing.concurrency, async (mutant) => {
    const usable = (tests.get(mutant.file) ?? []).flatMap((test) => baselines.get(test) ?? [])
    const result = await testMutant(mutant, usable, testing)
    if (result.killedBy) killed++
    const survivors = ++tested - killed
    mutantProgress.show(tested, mutants.length, `${tested} mutants, ${survivors} survived`)
    return result
  })
  mutantProgress.end()

  const results = [...earlier.filter(isKilled), ...newResults]
  console.log(toReport(root, results))
  const { score } = toScore('', results)
  console.log(`\n${describeSample(results.length, all.length, options.seed)}`)
  if (options.json) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`)
  if (score >= options.min) return 0
  console.error(`The score is ${score} %; at least ${options.min} % is required.`)
  return 1
}

/** The file may have changed since: a mutant is the same if line and change are the same. */
function findAgain(mutant: Mutant, all: readonly Mutant[]): Mutant {
  const found = all.find(
    ({ file, line, column, description }) =>
      file === mutant.file &&
      line === mutant.line &&
      column === mutant.column &&
      description === mutant.description,
  )
  if (found) return found
  const place = `${mutant.file}:${mutant.line}:${mutant.column}`
  throw new UsageError(`${place} no longer has the mutant ${mutant.description}. Test all again.`)
}

function chooseTests(files: readonly string[], { tests, maxTests }: Options) {
  const graph = readImports(root)
  const named = [...graph.keys()]
    .filter((path) => path.endsWith('.test.ts') && tests.some((word) => path.includes(word)))
    .sort()
  return new Map(
    files.map((file) => {
      const nearest = findNearestTests(graph, file)
      return [file, [...new Set([...named, ...nearest])].slice(0, Math.max(maxTests, named.length))]
    }),
  )
}

function list(mutants: readonly Mutant[], tests: ReadonlyMap<string, string[]>): number {
  for (const [file, own] of Map.groupBy(mutants, (mutant) => mutant.file)) {
    console.log(`${file}\n  tests: ${tests.get(file)?.join(', ') || 'none'}`)
    for (const { line, column, description } of own) {
      console.log(`  ${line}:${column}  ${description}`)
    }
  }
  return 0
}

function describeSample(tested: number, all: number, seed: number): string {
  return tested === all
    ? `All ${all} mutants were tested.`
    : `${tested} of ${all} mutants were tested (seed ${seed}).`
}
