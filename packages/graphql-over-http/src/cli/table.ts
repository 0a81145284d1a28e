import { styleText } from 'node:util'
import type { AuditRequirement, AuditResult } from '../audits/index.ts'
import { toAuditReport } from '../audits/index.ts'

type Format = Parameters<typeof styleText>[0]
type Paint = (format: Format, text: string) => string

export interface TableOptions {
  readonly url: string
  readonly color: boolean
  /**
   * The width at which long lines wrap; undefined in a pipe, so that each audit stays on one line
   * for grep.
   */
  readonly columns?: number | undefined
}

interface Level {
  readonly level: AuditRequirement
  readonly meaning: string
  readonly mark: string
  readonly format: Format
}

const LEVELS: readonly Level[] = [
  { level: 'MUST', meaning: 'required', mark: '✗', format: 'red' },
  { level: 'SHOULD', meaning: 'recommended', mark: '!', format: 'yellow' },
  { level: 'MAY', meaning: 'optional', mark: '·', format: 'cyan' },
]

const INDENT = '          '

/** The results as text, grouped by level, with the reason below each failed audit. */
export function renderTable(
  results: readonly AuditResult[],
  { url, color, columns }: TableOptions,
): string {
  const paint: Paint = (format, text) =>
    color ? styleText(format, text, { validateStream: false }) : text
  const width = Math.max(columns ?? Number.POSITIVE_INFINITY, 40) - INDENT.length
  const report = toAuditReport(results)
  const lines = [`GraphQL over HTTP audit of ${paint('bold', url)}`]
  for (const { level, meaning, mark, format } of LEVELS) {
    const { total, ok } = report.levels[level]
    if (total === 0) continue
    const counts = paint(ok === total ? 'green' : format, `${ok} of ${total} pass`)
    lines.push('', `${paint('bold', level)} ${paint('dim', `(${meaning})`)}  ${counts}`)
    for (const result of results.filter((candidate) => candidate.level === level)) {
      const isOk = result.status === 'ok'
      const [first = '', ...more] = wrap(result.name, width)
      const sign = isOk ? paint('green', '✓') : paint(format, mark)
      lines.push(`  ${sign} ${paint('dim', result.id)}  ${first}`)
      lines.push(...more.map((line) => INDENT + line))
      if (isOk) continue
      const reason = `${result.reason} (the status is ${result.response.status})`
      lines.push(...wrap(reason, width).map((line) => INDENT + paint(format, line)))
    }
  }
  lines.push('', summarize(report, paint), '')
  return lines.join('\n')
}

function summarize(
  { total, ok, warn, error }: { total: number; ok: number; warn: number; error: number },
  paint: Paint,
): string {
  const parts = [paint(ok === total ? 'green' : 'bold', `${ok} of ${total} audits pass`)]
  if (error > 0) parts.push(paint('red', `${error} ${error === 1 ? 'error' : 'errors'}`))
  if (warn > 0) parts.push(paint('yellow', `${warn} ${warn === 1 ? 'warning' : 'warnings'}`))
  return parts.join(', ')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}
