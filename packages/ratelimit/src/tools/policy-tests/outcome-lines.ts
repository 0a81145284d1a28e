import type { DescriptorStatus } from '../../protocol/message.ts'
import type { Explanation } from '../../rules/match/explain.ts'
import { toLimitText } from '../../rules/model/limit-text.ts'
import { isReplaced, toCodeText, toResetText, toRuleText } from './expected-fields.ts'
import type { Failure, Outcome } from './run.ts'
import { toInstantText } from './times.ts'

/** What the answer was and why, for people. */
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

/** `expected ok, got over_limit`, with the field and the descriptor where that is not plain. */
export function toMismatchText({ mismatches, request }: Failure, index: number): string {
  const mismatch = mismatches[index]
  if (mismatch === undefined) return ''
  const { field, descriptor, expected, actual } = mismatch
  const isPlain = descriptor === undefined || request.descriptors.length === 1
  const whose = isPlain ? '' : `descriptor ${descriptor + 1}: `
  const what = field === 'code' ? '' : `${field} `
  return `${whose}expected ${what}${expected}, got ${actual}`
}
