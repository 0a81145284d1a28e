// Runs the tests:
//
//   npm test                            everything: every leg of scripts/testing/matrix.ts
//   npm test -- WORD…                   the test files with such a path, on the pinned Node
//   npm test -- --leg NAME [WORD…]      one leg, or some of its files; `long` runs only this way
//   npm test -- WORD… --OPTION          with an option of `node --test`, e.g. --test-name-pattern=x

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'
import { findTestFiles, type Leg, type LegName, legs, root } from './testing/matrix.ts'
import { prepare } from './testing/prepare.ts'
import { runWithSecondTry } from './testing/run-again.ts'
import { type LegResult, type RunOptions, runLeg } from './testing/run-leg.ts'
import { selectFiles } from './testing/select-files.ts'
import { shareProcesses } from './testing/share-processes.ts'
import { readMisses, summarize } from './testing/summary.ts'

const usage = `Usage: npm test -- [--leg ${Object.keys(legs).join('|')}] [FILE, FOLDER, GLOB or WORD…] [--OPTION of node --test]`

const { words, nodeArgs, legName } = readArguments(process.argv.slice(2))
const isWhole = words.length === 0 && nodeArgs.length === 0 && legName === undefined
const scratch = mkdtempSync(join(tmpdir(), 'portcullis-test-'))
const missesFile = join(scratch, 'misses')
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

const results = isWhole ? await runMatrix() : await runSome(legs[legName ?? 'main'])
const lines = summarize(results, readMisses(missesFile))
const hasFailed = [...results.values()].some((result) => result.failed > 0)

console.log()
for (const line of lines.slice(0, -1)) console.log(colored(line))
console.log(lines.at(-1))
if (isWhole) keepSummary(lines)
process.exitCode = hasFailed ? 1 : 0

async function runMatrix(): Promise<Map<string, LegResult>> {
  await prepare()
  const results = new Map<string, LegResult>()
  for (const leg of Object.values(legs)) {
    if (leg.isOnDemand) continue
    const files = leg.files()
    console.log(`\n${styleText('bold', leg.title)} (${files.length} files)`)
    const result = await runWithSecondTry(leg, {
      ...common(),
      files: leg.sharesProcesses ? shareProcesses(files) : files,
      reporter: 'quiet',
      timeoutMs: 180_000,
    })
    results.set(leg.title, result)
    console.log(colored(summarize(new Map([[leg.title, result]]), [])[0] ?? ''))
  }
  return results
}

async function runSome(leg: Leg): Promise<Map<string, LegResult>> {
  const { selected, unknown } = selectFiles(findTestFiles(), words, { root, cwd: process.cwd() })
  if (unknown.length > 0) {
    console.error(`No test file matches ${unknown.join(', ')}. They are named …/test/….test.ts.`)
    process.exit(2)
  }
  const files = words.length > 0 ? selected : leg.files()
  const result = await runLeg(leg, {
    ...common(),
    files,
    reporter: 'spec',
    timeoutMs: findTimeout(),
  })
  return new Map([[leg.title, result]])
}

/** More than in the whole run: a first test may have to install a server. Or as long as they say. */
function findTimeout(): number {
  const option = '--test-timeout='
  const chosen = nodeArgs.find((arg) => arg.startsWith(option))?.slice(option.length)
  return Number(chosen) || 600_000
}

function common(): Pick<RunOptions, 'missesFile' | 'nodeArgs'> {
  return { missesFile, nodeArgs }
}

function readArguments(args: readonly string[]) {
  const words: string[] = []
  const nodeArgs: string[] = []
  let legName: LegName | undefined
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--help' || arg === '-h') endWith(usage, 0)
    else if (arg === '--leg') legName = toLegName(args[++at])
    else if (arg.startsWith('--leg=')) legName = toLegName(arg.slice('--leg='.length))
    else (arg.startsWith('-') ? nodeArgs : words).push(arg)
  }
  return { words, nodeArgs, legName }
}

function toLegName(name: string | undefined): LegName {
  const found = Object.keys(legs).find((known): known is LegName => known === name)
  return found ?? endWith(`There is no leg "${name ?? ''}".\n${usage}`, 2)
}

function endWith(message: string, code: number): never {
  console.error(message)
  process.exit(code)
}

function colored(line: string): string {
  if (line.startsWith('✔')) return styleText('green', line)
  return line.startsWith('✖') || line.startsWith('!!!') ? styleText(['bold', 'red'], line) : line
}

/** For .ci/run, which repeats it at its end. */
function keepSummary(lines: readonly string[]): void {
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(join(root, '.cache', 'test-summary.txt'), `${lines.join('\n')}\n`)
}
