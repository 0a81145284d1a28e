import type { CounterState, CounterTarget, TopKeys } from '../console/limits/key-pages.ts'
import type { LimitChange } from '../console/limits/save-limit.ts'

type Comparison = NonNullable<LimitChange['review']['comparison']>

export function toTopText({ by, seconds, isEstimate, floor, keys }: TopKeys): string {
  const time = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
  if (keys.length === 0) {
    return by === 'limited'
      ? `No request was over a limit in the last ${time}.\n`
      : `No hits in the last ${time}.\n`
  }
  const rows = keys.map((key) => [
    `${key.limited}`,
    `${key.hits}`,
    key.limit ?? '-',
    `${toPlain(key.domain)} ${toEntriesText(key)}`,
  ])
  const titles = ['OVER', 'HITS', 'LIMIT', 'KEY']
  const table = [titles, ...rows]
  const widthOf = (column: number) => Math.max(...table.map((row) => row[column]?.length ?? 0))
  const [over, hits, limit] = [widthOf(0), widthOf(1), widthOf(2)]
  const lines = table.map(([first = '', second = '', third = '', key = '']) => {
    return `${first.padStart(over)}  ${second.padStart(hits)}  ${third.padEnd(limit)}  ${key}\n`
  })
  const note = isEstimate
    ? 'The numbers are estimates, because the service counts only a sample of the requests.'
    : floor === 0
      ? 'The numbers are exact.'
      : `The numbers are lower bounds; a key that is not listed has at most ${floor}.`
  return `${lines.join('')}\nHits of the last ${time}. ${note}\n`
}

export function toCounterText(state: CounterState): string {
  const { windowStart, windowSeconds } = state
  const toTime = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '')
  const modes = [
    state.algorithm === 'sliding_window' && 'sliding window',
    state.shadowMode && 'shadow mode',
    state.quotaMode && 'quota mode',
  ].filter(Boolean)
  const lines: readonly (readonly [string, string])[] = [
    ['Key', `${toPlain(state.domain)} ${toEntriesText(state)}`],
    ['Rule', [`${toPlain(state.rule)}: ${state.limitText}`, ...modes].join(', ')],
    ['Hits', `${state.hits} of ${state.limit}, ${state.remaining} left`],
    ['Window', `${toTime(windowStart)} to ${toTime(windowStart + windowSeconds)}`],
    ['Resets in', `${state.resetSeconds} s`],
    ['Store', `${state.store}, ${toPlain(state.key)}`],
  ]
  return lines.map(([name, value]) => `${name.padEnd(9)}  ${value}\n`).join('')
}

export function toChangeText(change: LimitChange): string {
  const { rule, before, after, file, line, review, load } = change
  const { comparison, reason } = review
  const name = toPlain(rule)
  const place = `${toPlain(file)}, line ${line}`
  const first = load
    ? `The limit of ${name} is now ${after}; it was ${before} (${place}).`
    : `The limit of ${name} would be ${after}; it is ${before} (${place}). Nothing was written.`
  const effect = comparison ? toEffectText(comparison) : `Its effect is unknown: ${reason}`
  return [first, effect, ...(load ? [load.message] : [])].map((text) => `${text}\n`).join('')
}

function toEffectText({ requests, changed, refusedBefore, refusedAfter }: Comparison): string {
  const counted = requests === 1 ? 'the latest request' : `the latest ${requests} requests`
  return changed === 0
    ? `It would not have changed the decision on ${counted}.`
    : `Of ${counted}, ${changed} would be decided differently: ${refusedAfter} refused instead of ${refusedBefore}.`
}

function toEntriesText({ entries }: Pick<CounterTarget, 'entries'>): string {
  return entries.map(({ key, value }) => `${toPlain(key)}=${toPlain(value)}`).join(' ')
}

/** Clients choose values, which must not begin a new line or control the terminal. */
function toPlain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}
