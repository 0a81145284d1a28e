import { styleText } from 'node:util'
import { toCountText } from '@portcullis/service-kit/text/format'
import type { DescriptorStatus } from '../../engine.ts'
import { type Explanation, toLimitText } from '../../rules/index.ts'
import { colorPalette, plainPalette, toReport } from '../check/fault-report.ts'
import { isReplaced, toCodeText, toResetText, toRuleText } from './expected-fields.ts'
import type { Failure, Outcome, TestResult } from './run.ts'
import { toInstantText } from './written-values.ts'

interface TextReportOptions {
  readonly hasColor: boolean
  /** The files of the tests, by path. */
  readonly texts: ReadonlyMap<string, string>
}

/** One line per test, below its file, followed by the failures and the totals. */
export function toTextReport(results: readonly TestResult[], options: TextReportOptions): string {
  const byFile = Map.groupBy(results, ({ test }) => test.place.file)
  const lists = [...byFile].map(([file, ofFile]) => toList(file, ofFile, options.hasColor))
  const failures = results.map((result) => toFailureText(result, options))
  return `${lists.join('')}\n${failures.join('')}${toSummary(results, byFile.size, options.hasColor)}\n`
}

function toList(file: string, results: readonly TestResult[], hasColor: boolean): string {
  const lines = results.map(({ test, failure }) => {
    const mark =
      failure === undefined ? paint('green', 'ok  ', hasColor) : paint('red', 'FAIL', hasColor)
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
  const palette = options.hasColor ? colorPalette : plainPalette
  return toReport({ severity: 'fault', path, line, column, message }, source, palette)
}

function toSummary(results: readonly TestResult[], fileCount: number, hasColor: boolean): string {
  const failed = results.filter(({ failure }) => failure !== undefined).length
  const requests = results.reduce((sum, { requestCount }) => sum + requestCount, 0)
  const tests = toCountText(results.length, 'test')
  const scope = `${toCountText(fileCount, 'file')} with ${toCountText(requests, 'request')}`
  const verdict = failed === 0 ? `${tests} passed` : `${failed} of ${tests} failed`
  return `${paint(failed === 0 ? 'green' : 'red', verdict, hasColor)}, ${scope}`
}

function paint(style: 'green' | 'red', text: string, hasColor: boolean): string {
  return hasColor ? styleText(style, text, { validateStream: false }) : text
}

const controls = /\p{Cc}/gu

/** Escapes control characters, because text from a file must not control the terminal. */
function toSafe(text: string): string {
  return text.replaceAll(controls, '\ufffd')
}

/** The outcome of one test, for programs. */
export function toJsonResult({ test, requestCount, failure }: TestResult) {
  const { file, line, column } = test.place
  return {
    name: test.name,
    path: file,
    line,
    column,
    ok: failure === undefined,
    requests: requestCount,
    ...(failure && { failure: toJsonFailure(failure) }),
  }
}

function toJsonFailure(failure: Failure) {
  const { mismatches, nowMs, call, times, request, outcomes } = failure
  return {
    mismatches: mismatches.map(({ place: { line, column }, ...rest }) => ({
      line,
      column,
      ...rest,
    })),
    time: toInstantText(nowMs),
    call,
    times,
    domain: request.domain,
    descriptors: outcomes.map(({ descriptor, status, explanation }) => ({
      entries: descriptor.entries,
      code: toCodeText(status.code),
      remaining: status.limitRemaining,
      resetSeconds: status.resetSeconds,
      outcome: explanation.outcome,
      rule: toRuleText(explanation),
      place: explanation.match?.rule?.place,
      limit: explanation.match && toLimitText(explanation.match.limit),
      algorithm: explanation.match?.limit.algorithm,
      nearMisses: explanation.nearMisses,
    })),
  }
}

/** The format of test results that most CI servers read, with a suite per file. */
export function toJunit(results: readonly TestResult[]): string {
  const byFile = Map.groupBy(results, ({ test }) => test.place.file)
  const suites = [...byFile].map(([file, ofFile]) => toSuite(file, ofFile))
  const head = `<testsuites name="policy tests" ${toCounts(results)}>`
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${suites.join('')}</testsuites>\n`
}

function toSuite(file: string, results: readonly TestResult[]): string {
  const cases = results.map(({ test, failure }) => {
    const { line } = test.place
    const open = `    <testcase name="${toXml(test.name)}" classname="${toXml(file)}" line="${line}"`
    return failure === undefined
      ? `${open}/>\n`
      : `${open}>\n${toFailure(failure)}    </testcase>\n`
  })
  const head = `  <testsuite name="${toXml(file)}" ${toCounts(results)}>`
  return `${head}\n${cases.join('')}  </testsuite>\n`
}

function toCounts(results: readonly TestResult[]): string {
  const failed = results.filter(({ failure }) => failure !== undefined).length
  return `tests="${results.length}" failures="${failed}" errors="0" skipped="0"`
}

function toFailure(failure: Failure): string {
  const lines = failure.mismatches.map(({ place }, index) => {
    const { file, line, column } = place
    return `${file}:${line}:${column}: ${toMismatchText(failure, index)}`
  })
  const message = toXml(toMismatchText(failure, 0))
  const text = toXml([...lines, ...toOutcomeLines(failure)].join('\n'))
  return `      <failure message="${message}">${text}</failure>\n`
}

const names: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
}

/** XML cannot represent most control characters. */
function toXml(text: string): string {
  return text
    .replaceAll(/[<>&"]/g, (letter) => names[letter] ?? letter)
    .replaceAll(/[^\t\n\P{Cc}]|[\ufffe\uffff]|\p{Cs}/gu, '\ufffd')
}

/** Describes the response and its reasons. */
export function toOutcomeLines(failure: Failure): string[] {
  const { call, times, nowMs, request, outcomes } = failure
  const which = times === 1 ? '' : `call ${call} of ${times}, `
  return [
    `${which}${toInstantText(nowMs)}, domain ${request.domain}`,
    ...outcomes.flatMap(toDescriptorLines),
  ]
}

function toDescriptorLines({ descriptor, status, explanation }: Outcome): string[] {
  const entries = descriptor.entries.map(({ key, value }) => `(${key}=${value})`).join(',')
  const facts = [toCodeText(status.code), `${status.limitRemaining} remaining`]
  if (status.resetSeconds !== undefined) facts.push(`reset in ${toResetText(status.resetSeconds)}`)
  const hints = explanation.nearMisses.map((hint) => `  - ${hint}`)
  return [`${entries}: ${facts.join(', ')}`, `  ${toReason(status, explanation)}`, ...hints]
}

function toReason(status: DescriptorStatus, explanation: Explanation): string {
  const { match, outcome } = explanation
  if (match === undefined) {
    const path = toRuleText(explanation)
    return path === 'none' ? outcome : `rule ${path}: ${outcome}`
  }
  const { limit, rule } = match
  const algorithm = limit.unlimited ? '' : `, ${limit.algorithm}`
  if (rule === undefined) return `limit of the request: ${toLimitText(limit)}${algorithm}`
  const { file, line, column } = rule.place
  const notes = [
    limit.shadowMode ? ', shadow mode' : '',
    limit.quotaMode ? ', quota mode' : '',
    isReplaced(status, match) ? ', replaced by another limit of the request' : '',
  ]
  const text = `${toLimitText(limit)}${algorithm}${notes.join('')}`
  return `rule ${rule.path} at ${file}:${line}:${column}: ${text}`
}

/** `expected ok, got over_limit`, with the field and the descriptor if they are not obvious. */
export function toMismatchText({ mismatches, request }: Failure, index: number): string {
  const mismatch = mismatches[index]
  if (mismatch === undefined) return ''
  const { field, descriptor, expected, actual } = mismatch
  const isPlain = descriptor === undefined || request.descriptors.length === 1
  const whose = isPlain ? '' : `descriptor ${descriptor + 1}: `
  const what = field === 'code' ? '' : `${field} `
  return `${whose}expected ${what}${expected}, got ${actual}`
}
