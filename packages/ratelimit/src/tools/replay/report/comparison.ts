import { type LimitReport, type Report, toLimitText } from './report.ts'
import { type Column, createPaint, type Paint, toNumberText, toSafeText, toTable } from './table.ts'

/** The refusals of a rule in both sets of rules; those in shadow mode count as refused. */
export interface RuleDifference {
  readonly path: string
  /** Null if the rule does not exist or matched no request. */
  readonly limitBefore: LimitReport | null
  readonly limitAfter: LimitReport | null
  readonly refusedBefore: number
  readonly refusedAfter: number
  readonly requestsBefore: number
  readonly requestsAfter: number
}

export interface Comparison {
  readonly rules: string
  readonly comparedWith: string
  readonly refusedBefore: number
  readonly refusedAfter: number
  /** Requests over a limit that shadow or quota mode allowed. */
  readonly shadowRefusedBefore: number
  readonly shadowRefusedAfter: number
  /** Only rules that differ, with the largest change first. */
  readonly differences: readonly RuleDifference[]
}

export function compareReports(before: Report, after: Report): Comparison {
  const older = new Map(before.perRule.map((rule) => [rule.path, rule]))
  const newer = new Map(after.perRule.map((rule) => [rule.path, rule]))
  const differences: RuleDifference[] = []
  for (const path of new Set([...older.keys(), ...newer.keys()])) {
    const [old, now] = [older.get(path), newer.get(path)]
    const difference = {
      path,
      limitBefore: old?.limit ?? null,
      limitAfter: now?.limit ?? null,
      refusedBefore: old === undefined ? 0 : old.requests.refused + old.requests.shadowRefused,
      refusedAfter: now === undefined ? 0 : now.requests.refused + now.requests.shadowRefused,
      requestsBefore: old?.requests.total ?? 0,
      requestsAfter: now?.requests.total ?? 0,
    }
    if (isDifferent(difference)) differences.push(difference)
  }
  differences.sort((a, b) => Math.abs(toChange(b)) - Math.abs(toChange(a)))
  return {
    rules: before.rules,
    comparedWith: after.rules,
    refusedBefore: before.requests.refused,
    refusedAfter: after.requests.refused,
    shadowRefusedBefore: before.requests.shadowRefused,
    shadowRefusedAfter: after.requests.shadowRefused,
    differences,
  }
}

function isDifferent(difference: RuleDifference): boolean {
  const { limitBefore, limitAfter, requestsBefore, requestsAfter } = difference
  return (
    toChange(difference) !== 0 ||
    requestsBefore !== requestsAfter ||
    toLimitText(limitBefore) !== toLimitText(limitAfter)
  )
}

function toChange({ refusedBefore, refusedAfter }: RuleDifference): number {
  return refusedAfter - refusedBefore
}

const columns: readonly Column<RuleDifference>[] = [
  { title: 'rule', text: ({ path }) => toSafeText(path) },
  { title: 'limit', text: ({ limitBefore }) => toLimitText(limitBefore) || '-' },
  { title: 'after', text: ({ limitAfter }) => toLimitText(limitAfter) || '-' },
  number('requests', ({ requestsBefore }) => requestsBefore),
  number('after', ({ requestsAfter }) => requestsAfter),
  number('refused', ({ refusedBefore }) => refusedBefore),
  number('after', ({ refusedAfter }) => refusedAfter),
  {
    title: 'change',
    isNumber: true,
    text: (row) => toSigned(toChange(row)),
    style: (row) => (toChange(row) > 0 ? 'red' : toChange(row) < 0 ? 'green' : undefined),
  },
]

function number(title: string, count: (row: RuleDifference) => number): Column<RuleDifference> {
  return { title, isNumber: true, text: (row) => toNumberText(count(row)) }
}

function toSigned(number: number): string {
  return number > 0 ? `+${toNumberText(number)}` : toNumberText(number)
}

function toTotalText(before: number, after: number): string {
  return `${toNumberText(before)} before, ${toNumberText(after)} after (${toSigned(after - before)})`
}

export function toComparisonText(comparison: Comparison, hasColor: boolean): string {
  const paint: Paint = createPaint(hasColor)
  const { rules, comparedWith, shadowRefusedBefore, shadowRefusedAfter, differences } = comparison
  const lines = [
    paint('bold', `${toSafeText(rules)} compared with ${toSafeText(comparedWith)}`),
    `refused     ${toTotalText(comparison.refusedBefore, comparison.refusedAfter)}`,
    ...(shadowRefusedBefore + shadowRefusedAfter > 0
      ? [`shadow      ${toTotalText(shadowRefusedBefore, shadowRefusedAfter)}`]
      : []),
    '',
    ...(differences.length === 0
      ? ['no rule makes a difference']
      : toTable(columns, differences, paint)),
  ]
  return `${lines.join('\n')}\n`
}
