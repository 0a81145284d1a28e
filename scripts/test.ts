// Runs the tests; `npm test -- --help` lists the options.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'
import { openCommonPostgres } from './testing/common-postgres.ts'
import { groupFiles } from './testing/group-files.ts'
import { isLegName, type Leg, type LegName, legs } from './testing/legs.ts'
import { prepare } from './testing/prepare.ts'
import { repeatFailed } from './testing/repeat-failed.ts'
import { type LegResult, type RunOptions, runLeg } from './testing/run-leg.ts'
import { selectFiles } from './testing/select-files.ts'
import { type LegReport, readMisses, summarize } from './testing/summary.ts'
import { findTestFiles, root, type TestFile, TestHeaderError } from './testing/test-files.ts'

const legList = Object.values(legs)
  .map(({ title, isOnDemand }) => `  ${title}${isOnDemand ? ' (on demand)' : ''}`)
  .join('\n')
const usage = `Usage: npm test -- [OPTION…] [FILE, DIR, GLOB or WORD…]

  npm test                        every leg except those on demand
  npm test -- WORD…               the test files whose path contains a word, on
                                  the pinned Node
  npm test -- --leg NAME [WORD…]  one leg, or some of its files

Legs:
${legList}

Options:
  --leg NAME  the leg to run
  --help      show this text
All other options are passed to node --test, such as --test-name-pattern=WORD.

Exit codes: 0 on success, 1 if a test fails, 2 for invalid arguments.`

const { words, nodeArgs, legName } = readArguments(process.argv.slice(2))
const isWhole = words.length === 0 && nodeArgs.length === 0 && legName === undefined
const scratch = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
const missesFile = join(scratch, 'misses')
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

const files = findFiles()
const reports = isWhole ? await runAll() : [await runSome(legName ?? 'main')]
const lines = summarize(reports, readMisses(missesFile))

console.log()
for (const line of lines.slice(0, -1)) console.log(colored(line))
console.log(lines.at(-1))
if (isWhole) keepSummary(lines)
process.exitCode = reports.some(({ result }) => result && result.failed > 0) ? 1 : 0

async function runAll(): Promise<LegReport[]> {
  await prepare()
  await using postgres = await openCommonPostgres(files)
  const plans = Object.entries(legs).map(([name, leg]) => planLeg(name, leg, postgres.env))
  const first = new Map<LegPlan, LegResult>()
  const runInTurn = async (own: readonly LegPlan[]) => {
    for (const plan of own) first.set(plan, await runPlan(plan))
  }
  const running = plans.filter(({ options }) => !options.leg.isOnDemand)
  const isConcurrent = ({ options }: LegPlan) => options.leg.isConcurrent === true
  await Promise.all([
    runInTurn(running.filter((plan) => !isConcurrent(plan))),
    runInTurn(running.filter(isConcurrent)),
  ])
  const reports: LegReport[] = []
  for (const plan of plans) {
    const result = first.get(plan)
    reports.push(toReport(plan, result && (await repeatFailed(plan.options, result))))
  }
  return reports
}

interface LegPlan {
  readonly fileCount: number
  readonly options: RunOptions
}

function planLeg(name: string, leg: Leg, env: Readonly<Record<string, string>>): LegPlan {
  const own = files.filter((file) => file.legs.includes(name))
  const options = {
    leg,
    files: leg.isOnDemand ? [] : groupFiles(own, join(root, '.cache', 'test-processes', name)),
    reporter: 'quiet',
    env: { ...env, PORTCULLIS_TEST_MISSES: missesFile, PORTCULLIS_TEST_LEG: name },
    nodeArgs: [],
    ...(leg.isConcurrent && { concurrency: availableParallelism() + 1 }),
  } as const
  return { fileCount: own.length, options }
}

async function runPlan(plan: LegPlan): Promise<LegResult> {
  const { fileCount, options } = plan
  console.log(`\n${styleText('bold', options.leg.title)} (${fileCount} files)`)
  const result = await runLeg(options)
  console.log(colored(summarize([toReport(plan, result)], [])[0] ?? ''))
  return result
}

function toReport({ fileCount, options }: LegPlan, result: LegResult | undefined): LegReport {
  return { title: options.leg.title, fileCount, result }
}

async function runSome(name: LegName): Promise<LegReport> {
  const leg = legs[name]
  const paths = files.map((file) => file.path)
  const { selected, unknown } = selectFiles(paths, words, { root, cwd: process.cwd() })
  if (unknown.length > 0) {
    endWith(`No test file matches ${unknown.join(', ')}. They are named …/test/….test.ts.`, 2)
  }
  const isChosen = (file: TestFile) =>
    words.length > 0 ? selected.includes(file.path) : file.legs.includes(name)
  const chosen = files.filter(isChosen)
  await using postgres = await openCommonPostgres(chosen)
  const result = await runLeg({
    leg,
    // Without groups, failures and durations belong to single files.
    files: chosen.map((file) => file.path),
    reporter: 'spec',
    env: { ...postgres.env, PORTCULLIS_TEST_MISSES: missesFile },
    nodeArgs,
  })
  return { title: leg.title, fileCount: chosen.length, result }
}

function findFiles(): TestFile[] {
  try {
    return findTestFiles()
  } catch (error) {
    if (!(error instanceof TestHeaderError)) throw error
    return endWith(error.message, 2)
  }
}

function readArguments(args: readonly string[]) {
  const words: string[] = []
  const nodeArgs: string[] = []
  let legName: LegName | undefined
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--help' || arg === '-h') endWith(usage, 0)
    else if (arg === '--leg') legName = requireLegName(args[++at])
    else if (arg.startsWith('--leg=')) legName = requireLegName(arg.slice('--leg='.length))
    else (arg.startsWith('-') ? nodeArgs : words).push(arg)
  }
  return { words, nodeArgs, legName }
}

function requireLegName(name = ''): LegName {
  return isLegName(name) ? name : endWith(`Unknown leg "${name}".\n${usage}`, 2)
}

function endWith(message: string, code: number): never {
  console[code === 0 ? 'log' : 'error'](message)
  process.exit(code)
}

function colored(line: string): string {
  if (line.startsWith('✔')) return styleText('green', line)
  return line.startsWith('✖') || line.startsWith('!!!') ? styleText(['bold', 'red'], line) : line
}

/** .ci/run prints the summary again at its end. */
function keepSummary(lines: readonly string[]): void {
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(join(root, '.cache', 'test-summary.txt'), `${lines.join('\n')}\n`)
}
