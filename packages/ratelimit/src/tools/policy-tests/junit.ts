import { toMismatchText, toOutcomeLines } from './outcome-lines.ts'
import type { Failure, TestResult } from './run.ts'

/** The form in which most build servers read test results: a suite per file. */
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

/** XML has no way to write most control characters. */
function toXml(text: string): string {
  return text
    .replaceAll(/[<>&"]/g, (letter) => names[letter] ?? letter)
    .replaceAll(/[^\t\n\P{Cc}]|[\ufffe\uffff]|\p{Cs}/gu, '\ufffd')
}
