import { styleText } from 'node:util'
import {
  type Algorithm,
  type ExplainedLevel,
  type ExplainedRule,
  type Outcome,
  toLimitText,
} from '../../rules/index.ts'
import type { Answer } from './explain-answer.ts'

type Paint = (style: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string

/** Formats the answers as text, with colors if the terminal supports them. */
export function toText(answers: readonly Answer[], hasColor: boolean): string {
  const paint: Paint = (style, text) =>
    hasColor ? styleText(style, text, { validateStream: false }) : text
  return answers.map((answer) => toParagraph(toSafe(answer), paint)).join('\n')
}

function toParagraph(answer: Answer, paint: Paint): string {
  const entries = answer.entries.map(({ key, value }) => `(${key}=${value})`).join(',')
  const lines = [
    paint('bold', `domain ${answer.domain}, descriptor ${entries}`),
    '',
    ...answer.levels.flatMap((level, index) => toLevelLines(level, index, paint)),
    ...toConclusion(answer, paint),
    ...toFacts(answer).map(([name, fact]) => `  ${paint('dim', name.padEnd(10))}  ${fact}`),
    ...answer.nearMisses.map((hint) => `  - ${hint}`),
  ]
  return `${lines.join('\n')}\n`
}

function toLevelLines(level: ExplainedLevel, index: number, paint: Paint): string[] {
  const attempts = level.attempts.map(({ step, isMatch, reason }) => {
    const mark = isMatch ? paint('green', 'yes') : paint('red', 'no ')
    return `     ${mark}  ${step.padEnd(11)}  ${reason}`
  })
  const rule = level.rule === undefined ? [] : [`     ${toRuleText(level.rule, paint)}`]
  return [`  ${index + 1}. ${level.key}=${level.value}`, ...attempts, ...rule, '']
}

function toRuleText({ path, place }: ExplainedRule, paint: Paint): string {
  return `rule ${path} ${paint('dim', `at ${place.file}:${place.line}:${place.column}`)}`
}

const conclusions: Readonly<Record<Outcome, readonly ['green' | 'yellow', string]>> = {
  limited: ['green', 'a limit applies'],
  unlimited: ['green', 'unlimited: the answer is OK, and nothing is counted in the store'],
  'limited by the request': ['green', 'the limit of the request applies'],
  whitelisted: [
    'green',
    'allowed by a rule without a limit: the answer is OK, and nothing is counted',
  ],
  placeholder: ['yellow', 'no limit at this depth: the answer is OK, and nothing is counted'],
  'no rule': ['yellow', 'no rule: the answer is OK, and nothing is counted'],
  'unknown domain': ['yellow', 'unknown domain: the answer is OK, and nothing is counted'],
}

function toConclusion({ outcome, replacedBy }: Answer, paint: Paint): string[] {
  if (replacedBy !== undefined) {
    const text = `replaced by ${replacedBy}: the answer is OK, and nothing is counted`
    return [`  ${paint('yellow', text)}`]
  }
  const [style, text] = conclusions[outcome]
  return [`  ${paint(style, text)}`]
}

function toFacts({ match, counter }: Answer): [name: string, fact: string][] {
  if (match === undefined) return []
  const { limit, statisticsKey } = match
  const facts: [string, string | undefined][] = [
    ['limit', limit.unit && toLimitText(limit)],
    ['algorithm', limit.unit && algorithmTexts[limit.algorithm]],
    ['counter', counter?.key],
    ['window', counter && `${toIso(counter.windowStart)} to ${toIso(counter.windowEnd)}`],
    ['reset', counter && `in ${counter.secondsUntilReset} s`],
    ['statistics', `ratelimit.service.rate_limit.${statisticsKey}`],
    ['name', limit.name || undefined],
    ['replaces', limit.replaces.join(', ') || undefined],
    ['shadow', limit.shadowMode ? 'the answer is OK even when over the limit' : undefined],
    [
      'quota',
      limit.quotaMode ? 'refuses only when all quota rules are over their limits' : undefined,
    ],
  ]
  return facts.flatMap(([name, fact]) => (fact === undefined ? [] : [[name, fact]]))
}

const algorithmTexts: Readonly<Record<Algorithm, string>> = {
  fixed_window: 'fixed_window: every window starts at 0',
  sliding_window: 'sliding_window: hits of the previous window count as far as it still overlaps',
}

/** Formats a time without milliseconds. A time beyond the range of dates stays a number. */
function toIso(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace('.000Z', 'Z')
}

const controls = /\p{Cc}/gu

/** Escapes control characters, because text from a file or an argument must not control the terminal. */
function toSafe(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer), (_, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(controls, '\ufffd') : value,
  )
}
