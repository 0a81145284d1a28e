import { type KeyReport, type Report, type RuleReport, toLimitText } from './report.ts'
import {
  type Column,
  createPaint,
  type Paint,
  toNumberText,
  toSafeText,
  toShareText,
  toTable,
} from './table.ts'

export interface TextSettings {
  readonly hasColor: boolean
  /** Whether to list all rules that refused or matched no request. */
  readonly showsAll: boolean
}

/** The number of rules that are listed even if they refused nothing. */
const mostRules = 40

/** Formats the report as text: the log, the refused requests, and the rules and keys that caused them. */
export function toReportText(report: Report, { hasColor, showsAll }: TextSettings): string {
  const paint = createPaint(hasColor)
  const sections = [
    toOverview(report, paint),
    toRuleSection(report, paint, showsAll),
    toKeySection(report, paint),
    toDomainSection(report, paint),
    toUnreadableSection(report, paint),
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`
}

function toOverview(report: Report, paint: Paint): string[] {
  const { lines, requests, from, to } = report
  const share = requests.total === 0 ? 0 : requests.refused / requests.total
  const span = from === null || to === null ? 'no request' : `${toShort(from)} to ${toShort(to)}`
  const facts: [name: string, fact: string, isWarning?: boolean][] = [
    ['log', `${toCount(lines.total, 'line')}, ${span}${toDuration(from, to)}`],
    ['requests', toNumberText(requests.total)],
    ['refused', `${toNumberText(requests.refused)} (${toShareText(share)})`, requests.refused > 0],
  ]
  const more: [name: string, count: number, what: string][] = [
    ['shadow', requests.shadowRefused, 'over a limit, but allowed by shadow or quota mode'],
    ['no rule', requests.withoutRule, 'matched no rule: allowed'],
    ['no domain', requests.unknownDomain, 'for a domain without rules: allowed'],
    [
      'no entry',
      lines.withoutDescriptors,
      'without a descriptor: Envoy would have sent no request',
    ],
    ['late', lines.late, 'further out of order than --reorder allows: decided at a later time'],
    ['unreadable', lines.unreadable, 'skipped, see below'],
    ['failed', requests.failed, `not decided: ${report.failure ?? ''}`],
  ]
  for (const [name, count, what] of more) {
    if (count > 0) facts.push([name, `${toNumberText(count)} ${what}`])
  }
  if (report.isCut) facts.push(['cut', 'the log was not read to its end', true])
  return facts.map(([name, fact, isWarning]) => {
    const text = toSafeText(fact)
    return `${paint('dim', name.padEnd(10))}  ${isWarning === true ? paint('red', text) : text}`
  })
}

const ruleColumns: readonly Column<RuleReport>[] = [
  { title: 'rule', text: ({ path }) => toSafeText(path) },
  { title: 'limit', text: ({ limit }) => toLimitText(limit) },
  number('requests', ({ requests }) => requests.total),
  number('hits', ({ hits }) => hits.total),
  number('allowed', ({ requests }) => requests.allowed),
  number('near', ({ requests }) => requests.nearLimit),
  {
    ...number('refused', ({ requests }) => requests.refused),
    style: ({ requests }) => (requests.refused > 0 ? 'red' : undefined),
  },
  {
    title: 'shadow',
    isNumber: true,
    text: ({ requests }) => toSome(requests.shadowRefused),
    style: ({ requests }) => (requests.shadowRefused > 0 ? 'yellow' : undefined),
  },
  { title: 'share', isNumber: true, text: ({ shareRefused }) => toShareText(shareRefused) },
  { title: 'peak', isNumber: true, text: toPeakText },
  { title: 'first', text: ({ firstRefusal }) => toShort(firstRefusal) },
  { title: 'last', text: ({ lastRefusal }) => toShort(lastRefusal) },
]

function number(title: string, count: (row: RuleReport) => number): Column<RuleReport> {
  return { title, isNumber: true, text: (row) => toNumberText(count(row)) }
}

function toSome(count: number): string {
  return count === 0 ? '' : toNumberText(count)
}

/** As a multiple of the limit: 3.2x is more than three times the limit. */
function toPeakText({ peak, limit }: RuleReport): string {
  if (peak === null || limit === null) return ''
  const { requestsPerUnit } = limit
  const times = requestsPerUnit === 0 ? '' : ` ${(peak.hits / requestsPerUnit).toFixed(1)}x`
  return `${toNumberText(peak.hits)}${times}`
}

function toRuleSection({ perRule }: Report, paint: Paint, showsAll: boolean): string[] {
  const met = perRule.filter(({ limit }) => limit !== null)
  const refusing = met.filter(({ shareRefused }) => shareRefused > 0)
  const listed = showsAll ? perRule : met.slice(0, Math.max(mostRules, refusing.length))
  if (perRule.length === 0) return ['there is no rule with a limit']
  // If each request is one hit, the numbers would be the same.
  const hasHits = listed.some(({ hits, requests }) => hits.total !== requests.total)
  const columns = ruleColumns.filter(({ title }) => hasHits || title !== 'hits')
  const lines = listed.length === 0 ? [] : toTable(columns, listed, paint)
  const hidden = met.length - listed.length
  const unmet = perRule.length - met.length
  if (!showsAll && hidden > 0) {
    lines.push(paint('dim', `${toCount(hidden, 'more rule')} refused nothing (--all lists them)`))
  }
  if (!showsAll && unmet > 0) {
    lines.push(paint('dim', `${toCount(unmet, 'rule')} matched no request (--all lists them)`))
  }
  return lines
}

const keyColumns: readonly Column<KeyReport>[] = [
  { title: 'refused', isNumber: true, text: ({ refused }) => toNumberText(refused) },
  { title: 'key', text: ({ key }) => toSafeText(key) },
  { title: 'rule', text: ({ rule }) => toSafeText(rule) },
  { title: 'first', text: ({ first }) => toShort(first) },
  { title: 'last', text: ({ last }) => toShort(last) },
]

function toKeySection({ refusedKeys, refusedKeysMissing }: Report, paint: Paint): string[] {
  if (refusedKeys.length === 0) return []
  const lines = [paint('bold', 'refused most often'), ...toTable(keyColumns, refusedKeys, paint)]
  if (refusedKeysMissing > 0) {
    const missing = toNumberText(refusedKeysMissing)
    lines.push(paint('dim', `too many keys to count all: up to ${missing} more refusals each`))
  }
  return lines
}

function toDomainSection({ unknownDomains }: Report, paint: Paint): string[] {
  if (unknownDomains.length === 0) return []
  const columns: Column<(typeof unknownDomains)[number]>[] = [
    { title: 'requests', isNumber: true, text: ({ requests }) => toNumberText(requests) },
    { title: 'domain', text: ({ domain }) => toSafeText(domain) },
  ]
  return [paint('bold', 'domains without rules'), ...toTable(columns, unknownDomains, paint)]
}

function toUnreadableSection({ unreadableLines, lines }: Report, paint: Paint): string[] {
  if (unreadableLines.length === 0) return []
  const more = lines.unreadable - unreadableLines.length
  return [
    paint('bold', 'lines that cannot be read'),
    ...unreadableLines.flatMap(({ log, line, reason, text }) => [
      `${toSafeText(log)}:${line}: ${toSafeText(reason)}`,
      ...(text === '' ? [] : [paint('dim', `  ${toSafeText(text)}`)]),
    ]),
    ...(more > 0 ? [paint('dim', `and ${toNumberText(more)} more`)] : []),
  ]
}

export function toCount(count: number, noun: string): string {
  return `${toNumberText(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Removes fractions of seconds, for which tables have no room. */
function toShort(time: string | null): string {
  return time === null ? '' : time.replace('T', ' ').replace(/\.\d+Z$/, '')
}

function toDuration(from: string | null, to: string | null): string {
  if (from === null || to === null) return ''
  const seconds = Math.round((Date.parse(to) - Date.parse(from)) / 1000)
  const parts: [amount: number, unit: string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const used = parts.filter(([amount]) => amount > 0).slice(0, 2)
  const text = used.map(([amount, unit]) => `${amount} ${unit}`).join(' ')
  return ` UTC (${text === '' ? '0 s' : text})`
}
