// A reporter for `node --test` that is silent about what works: it shows where the run is, and
// every failure in full as soon as its file has ended.

import { basename, relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect, styleText } from 'node:util'

const aliveEveryMs = 30_000
const slowMs = 15_000
const clearLine = '\r\x1b[2K'

interface FileReport {
  /** Names of the tests around the one that runs, outermost first. */
  readonly path: string[]
  readonly failures: string[]
  output: string
}

export async function* quiet(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const isTerminal = process.stdout.isTTY
  const reports = new Map<string, FileReport>()
  const reportOf = (file = '') => {
    const report = reports.get(file) ?? { path: [], failures: [], output: '' }
    reports.set(file, report)
    return report
  }
  const start = performance.now()
  let lastSign = start
  const durations: { readonly file: string; readonly ms: number }[] = []
  let passed = 0
  let failed = 0
  const sign = () => {
    const seconds = Math.round((performance.now() - start) / 1000)
    return `  … ${passed} passed, ${failed} failed, ${seconds} s`
  }

  for await (const event of source) {
    switch (event.type) {
      case 'test:start':
        reportOf(event.data.file).path[event.data.nesting] = event.data.name
        break
      case 'test:pass':
        passed++
        break
      case 'test:fail': {
        const { failures, path } = reportOf(event.data.file)
        if (isOwnFailure(event.data.details.error)) {
          failed++
          failures.push(describeFailure(event.data, path.slice(0, event.data.nesting)))
        }
        break
      }
      case 'test:stdout':
      case 'test:stderr':
        reportOf(event.data.file).output += event.data.message
        break
      case 'test:summary': {
        const report = reportOf(event.data.file)
        reports.delete(event.data.file ?? '')
        if (event.data.file !== undefined) {
          durations.push({ file: event.data.file, ms: event.data.duration_ms })
        }
        if (report.failures.length > 0) yield (isTerminal ? clearLine : '') + showReport(report)
        break
      }
      default:
    }
    if (isTerminal) yield clearLine + sign()
    else if (performance.now() - lastSign > aliveEveryMs) {
      lastSign = performance.now()
      yield `${sign()}\n`
    }
  }
  // What failed outside of any file that reported its end.
  const rest = [...reports.values()].filter((report) => report.failures.length > 0)
  yield (isTerminal ? clearLine : '') + rest.map(showReport).join('') + showSlowest(durations)
}

function showSlowest(durations: readonly { readonly file: string; readonly ms: number }[]): string {
  const slow = durations.filter(({ ms }) => ms > slowMs).sort((a, b) => b.ms - a.ms)
  const shown = slow
    .slice(0, 5)
    .map(({ file, ms }) => `${basename(file)} ${Math.round(ms / 1000)} s`)
  return shown.length > 0 ? `  slowest files: ${shown.join(', ')}\n` : ''
}

/** A test also fails because one inside it did; only the inner one has something to say. */
function isOwnFailure(error: Error & { failureType?: string }): boolean {
  return error.failureType !== 'subtestsFailed'
}

type Failure = Extract<TestEvent, { type: 'test:fail' }>['data']

function describeFailure(failure: Failure, around: readonly string[]): string {
  const { file = '', line, name, details } = failure
  const place = relative(process.cwd(), file)
  const ending = describeEnding(details.error)
  if (ending) return `${styleText('red', '✖')} ${place}\n    ${ending}\n`
  const title = [`${place}:${line ?? ''}`, ...around, name].join(' › ')
  const reason: unknown = details.error.cause ?? details.error
  const text =
    typeof reason === 'string' ? reason : inspect(reason, { colors: process.stdout.isTTY })
  const lines = text.split('\n').filter((text) => !isInsideNode(text))
  return `${styleText('red', '✖')} ${title}\n${lines.map((text) => `    ${text}\n`).join('')}`
}

/** How a file's process ended, when that and no test of it is the failure. */
function describeEnding(error: Error & { exitCode?: number | null; signal?: string | null }) {
  if (error.signal) return `The process was ended by ${error.signal}.`
  return error.exitCode ? `The process ended with exit code ${error.exitCode}.` : undefined
}

const isInsideNode = (line: string) =>
  /^\s+at (.*\(node:|node:|async Promise\.all).*[^{]$/.test(line)

function showReport({ failures, output }: FileReport): string {
  const printed = output.trim().split('\n').slice(-40)
  const shown =
    output.trim() === '' ? '' : `  It printed:\n${printed.map((line) => `    ${line}\n`).join('')}`
  return `\n${failures.join('\n')}${shown}\n`
}

// biome-ignore lint/style/noDefaultExport: this is how `node --test` finds a reporter
export default quiet
