import { styleText } from 'node:util'
import { colourPalette, plainPalette, toReport } from '../check/fault-report.ts'
import { toMismatchText, toOutcomeLines } from './outcome-lines.ts'
import type { Failure, TestResult } from './run.ts'

export interface TextReportOptions {
  readonly hasColour: boolean
  /** The files of the tests, by path. */
  readonly texts: ReadonlyMap<string, string>
}

/** One line per test, below its file; then what went wrong; then how many there were. */
export function toTextReport(results: readonly TestResult[], options: TextReportOptions): string {
  const byFile = Map.groupBy(results, ({ test }) => test.place.file)
  const lists = [...byFile].map(([file, ofFile]) => toList(file, ofFile, options.hasColour))
  const failures = results.map((result) => toFailureText(result, options))
  return `${lists.join('')}\n${failures.join('')}${toSummary(results, byFile.size, options.hasColour)}\n`
}

function toList(file: string, results: readonly TestResult[], hasColour: boolean): string {
  const lines = results.map(({ test, failure }) => {
    const mark =
      failure === undefined ? paint('green', 'ok  ', hasColour) : paint('red', 'FAIL', hasColour)
    return `  ${mark}  ${toSafe(test.name)}\n`
  })
  return `${toSafe(file)}\n${lines.join('')}`
}

function toFailureText({ test, failure }: TestResult, options: TextReportOptions): string {
  if (failure === undefined) return ''
  const reports = failure.mismatches.map((_, index) => toMismatchReport(failure, index, options))
  const lines = toOutcomeLines(failure).map((line) => `      ${toSafe(line)}\n`)
  return `${toSafe(test.name)}\n${reports.join('')}${lines.join('')}\n`
}

function toMismatchReport(failure: Failure, index: number, options: TextReportOptions): string {
  const place = failure.mismatches[index]?.place
  if (place === undefined) return ''
  const { file: path, line, column } = place
  const message = toMismatchText(failure, index)
  const source = options.texts.get(path)?.split(/\r\n?|\n/)[line - 1]
  const palette = options.hasColour ? colourPalette : plainPalette
  return toReport({ severity: 'fault', path, line, column, message }, source, palette)
}

function toSummary(results: readonly TestResult[], fileCount: number, hasColour: boolean): string {
  const failed = results.filter(({ failure }) => failure !== undefined).length
  const requests = results.reduce((sum, { requestCount }) => sum + requestCount, 0)
  const tests = `${results.length} test${results.length === 1 ? '' : 's'}`
  const scope = `${fileCount} file${fileCount === 1 ? '' : 's'} with ${requests} requests`
  const verdict = failed === 0 ? `${tests} passed` : `${failed} of ${tests} failed`
  return `${paint(failed === 0 ? 'green' : 'red', verdict, hasColour)}, ${scope}`
}

function paint(style: 'green' | 'red', text: string, hasColour: boolean): string {
  return hasColour ? styleText(style, text, { validateStream: false }) : text
}

const controls = /\p{Cc}/gu

/** Text of a file must not steer the terminal. */
function toSafe(text: string): string {
  return text.replaceAll(controls, '\ufffd')
}
