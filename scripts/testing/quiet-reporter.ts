// A reporter for `node --test` that prints no passing tests: it shows the progress of the run,
// every failure immediately, and the output of a process with a failed test when the process has
// ended.

import { readFileSync } from 'node:fs'
import { basename, relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { inspect, styleText } from 'node:util'

const progressIntervalMs = 30_000
const slowMs = 15_000
const clearLine = '\r\x1b[2K'

/** Legs run at the same time, so each line about the progress of one begins with its name. */
const leg = process.env.PORTCULLIS_TEST_LEG ? `${process.env.PORTCULLIS_TEST_LEG}: ` : ''

interface FileReport {
  /** The names of the tests around the current one, outermost first. */
  readonly path: string[]
  output: string
}

export async function* quiet(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const isTerminal = process.stdout.isTTY
  const reports = new Map<string, FileReport>()
  const reportOf = (file = '') => {
    const report = reports.get(file) ?? { path: [], output: '' }
    reports.set(file, report)
    return report
  }
  const start = performance.now()
  let lastProgressMs = start
  const durations: { readonly file: string; readonly ms: number }[] = []
  const failedFiles = new Set<string>()
  let passed = 0
  let failed = 0
  const toProgress = () => {
    const seconds = Math.round((performance.now() - start) / 1000)
    return `  … ${leg}${passed} passed, ${failed} failed, ${seconds} s`
  }

  for await (const event of source) {
    switch (event.type) {
      // Unlike test:start, test:pass and test:fail, these events are emitted immediately: the
      // others wait until all files that were started earlier have ended.
      case 'test:dequeue':
        reportOf(event.data.file).path[event.data.nesting] = event.data.name
        break
      case 'test:complete': {
        const { file, nesting } = event.data
        const { passed: hasPassed, error } = event.data.details
        if (hasPassed) passed++
        if (error && isOwnFailure(error)) {
          failed++
          failedFiles.add(file ?? '')
          const around = reportOf(file).path.slice(0, nesting)
          yield `${isTerminal ? clearLine : ''}\n${describeFailure(event.data, error, around)}`
        }
        break
      }
      case 'test:stdout':
      case 'test:stderr':
        reportOf(event.data.file).output += event.data.message
        break
      case 'test:summary': {
        const { file } = event.data
        if (file === undefined) break
        durations.push({ file, ms: event.data.duration_ms })
        if (hasFailed(file, failedFiles)) yield showOutput(file, reportOf(file).output)
        reports.delete(file)
        break
      }
      default:
    }
    if (isTerminal) yield clearLine + toProgress()
    else if (performance.now() - lastProgressMs > progressIntervalMs) {
      lastProgressMs = performance.now()
      yield `${toProgress()}\n`
    }
  }
  // A process that crashed does not report its end.
  const crashed = [...reports].filter(([file]) => hasFailed(file, failedFiles))
  const outputs = crashed.map(([file, { output }]) => showOutput(file, output))
  yield (isTerminal ? clearLine : '') + outputs.join('') + showSlowest(durations)
}

/** Whether the file failed, or one of the files that it imports because they share a process. */
function hasFailed(file: string, failedFiles: ReadonlySet<string>): boolean {
  if (failedFiles.size === 0 || file === '') return false
  if (failedFiles.has(file)) return true
  const source = readFileSync(file, 'utf8')
  return [...failedFiles].some((path) => source.includes(`'${pathToFileURL(path).href}'`))
}

function showSlowest(durations: readonly { readonly file: string; readonly ms: number }[]): string {
  const slow = durations.filter(({ ms }) => ms > slowMs).sort((a, b) => b.ms - a.ms)
  const shown = slow
    .slice(0, 5)
    .map(({ file, ms }) => `${basename(file)} ${Math.round(ms / 1000)} s`)
  return shown.length > 0 ? `  ${leg}slowest files: ${shown.join(', ')}\n` : ''
}

/** A test also fails because a nested one failed; only the nested one is reported. */
export function isOwnFailure(error: Error & { failureType?: string }): boolean {
  return error.failureType !== 'subtestsFailed'
}

type Failure = Extract<TestEvent, { type: 'test:complete' }>['data']

function describeFailure(failure: Failure, error: Error, around: readonly string[]): string {
  const { file = '', line, name } = failure
  const place = relative(process.cwd(), file)
  const ending = describeEnding(error)
  if (ending) return `${styleText('red', '✖')} ${place}\n    ${ending}\n`
  const title = [`${place}:${line ?? ''}`, ...around, name].join(' › ')
  const reason: unknown = error.cause ?? error
  const text =
    typeof reason === 'string' ? reason : inspect(reason, { colors: process.stdout.isTTY })
  const lines = text.split('\n').filter((text) => !isInsideNode(text))
  return `${styleText('red', '✖')} ${title}\n${lines.map((text) => `    ${text}\n`).join('')}`
}

/** How a file's process ended, if that is the failure and not one of its tests. */
function describeEnding(error: Error & { exitCode?: number | null; signal?: string | null }) {
  if (error.signal) return `The process was ended by ${error.signal}.`
  return error.exitCode ? `The process ended with exit code ${error.exitCode}.` : undefined
}

const isInsideNode = (line: string) =>
  /^\s+at (.*\(node:|node:|async Promise\.all).*[^{]$/.test(line)

function showOutput(file: string, output: string): string {
  if (output.trim() === '') return ''
  const lines = output.trim().split('\n').slice(-40)
  const shown = lines.map((line) => `    ${line}\n`).join('')
  return `\n  ${relative(process.cwd(), file)} printed:\n${shown}\n`
}

// oxlint-disable-next-line import/no-default-export -- this is how `node --test` finds a reporter
export default quiet
