// Runs the tests; `npm test -- --help` lists the options.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'
import { openCommonPostgres } from './testing/common-postgres.ts'
import { groupFiles } from './testing/group-files.ts'
import { isLegName, type LegName, legs } from './testing/legs.ts'
import { prepare } from './testing/prepare.ts'
import { runAndRepeatFailed } from './testing/repeat-failed.ts'
import { runLeg } from './testing/run-leg.ts'
import { selectFiles } from './testing/select-files.ts'
import { type LegReport, readMisses, summarize } from './testing/summary.ts'
import { findTestFiles, root, type TestFile, TestHeaderError } from './testing/test-files.ts'

const usage = `Usage: npm test -- [--leg NAME] [FILE, DIR, GLOB or WORD…] [--OPTION of node --test]

  npm test                            every leg except those on demand
  npm test -- WORD…                   the test files whose path contains a word, on the pinned Node
  npm test -- --leg NAME [WORD…]      one leg, or some of its files
  npm test -- WORD… --OPTION          with an option of node --test, e.g. --test-name-pattern=x

Legs:
${Object.values(legs)
  .map(({ title, isOnDemand }) => `  ${title}${isOnDemand ? ' (on demand)' : ''}`)
  .join('\n')}`

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
  const reports: LegReport[] = []
  for (const [name, leg] of Object.entries(legs)) {
    const own = files.filter((file) => file.legs.includes(name))
    const report = { title: leg.title, fileCount: own.length }
    if (leg.isOnDemand) {
      reports.push({ ...report, result: undefined })
      continue
    }
    console.log(`\n${styleText('bold', leg.title)} (${own.length} files)`)
    const result = await runAndRepeatFailed({
      leg,
      files: groupFiles(own),
      reporter: 'quiet',
      env: { ...postgres.env, PORTCULLIS_TEST_MISSES: missesFile },
      nodeArgs: [],
    })
    reports.push({ ...report, result })
    console.log(colored(summarize(reports.slice(-1), [])[0] ?? ''))
  }
  return reports
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
