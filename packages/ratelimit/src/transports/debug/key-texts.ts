import type { Entry } from '../../protocol/message.ts'
import type { TopOrder } from '../../stats/top/top-list.ts'
import type { CounterState, LimitedKey, TopKeys } from './key-access.ts'

/** The response of `/top` as JSON. */
export interface TopAnswer {
  readonly by: TopOrder
  /** When counting began, in ISO 8601, and how many seconds ago that was. */
  readonly since: string
  readonly seconds: number
  /** Whether requests were sampled, so that the numbers are estimates. */
  readonly isEstimate: boolean
  /** The highest number that a key can have if the service does not list it. */
  readonly floor: number
  readonly keys: readonly TopAnswerKey[]
}

interface TopAnswerKey {
  readonly domain: string
  readonly entries: readonly Entry[]
  readonly rule: string | null
  readonly limit: string | null
  /** Lower bounds. */
  readonly hits: number
  readonly limited: number
  /** The upper bound of the column that `by` names. */
  readonly most: number
  /** Whether `/counter` can read it. It cannot if the limit is given in the request, or the key is too long. */
  readonly canInspect: boolean
}

export function toTopAnswer(top: TopKeys, by: TopOrder, count: number, nowMs: number): TopAnswer {
  const column = by === 'limited' ? 'limited' : 'hits'
  return {
    by,
    since: new Date(top.sinceMs).toISOString(),
    seconds: Math.max(0, Math.round((nowMs - top.sinceMs) / 1000)),
    isEstimate: top.isEstimate,
    floor: top.floor,
    keys: top.keys
      .filter((key) => key[column] > 0)
      .slice(0, count)
      .map(toAnswerKey),
  }
}

function toAnswerKey(key: LimitedKey): TopAnswerKey {
  const { domain, entries, rule, limitText, hits, limited, most, limit, isCut } = key
  return {
    domain,
    entries,
    rule: rule ?? null,
    limit: limitText ?? null,
    hits,
    limited,
    most,
    canInspect: rule !== undefined && limit === undefined && !isCut,
  }
}

export function toTopText({ by, since, seconds, isEstimate, floor, keys }: TopAnswer): string {
  const accuracy = isEstimate
    ? 'estimates'
    : floor === 0
      ? 'exact'
      : `lower bounds: up to ${floor} hits of each key may be missing`
  const head = `by ${by} since ${since} (${seconds} s). The numbers are ${accuracy}.\n`
  const rows = keys.map(({ domain, entries, limit, hits, limited }) => {
    return [`${limited}`, `${hits}`, limit ?? '-', `${toPlain(domain)} ${toEntriesText(entries)}`]
  })
  const titles = ['limited', 'hits', 'limit', 'key']
  const table = [titles, ...rows]
  const widths = titles.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)))
  const lines = table.map(([limited = '', hits = '', limit = '', key = '']) => {
    const [first = 0, second = 0, third = 0] = widths
    return `${limited.padStart(first)}  ${hits.padStart(second)}  ${limit.padEnd(third)}  ${key}\n`
  })
  return head + lines.join('')
}

export function toCounterText(state: CounterState): string {
  const { windowSeconds, windowStart, resetSeconds, remaining } = state
  const lines: readonly (readonly [string, string])[] = [
    ['domain', toPlain(state.domain)],
    ['descriptor', toEntriesText(state.entries)],
    ['rule', toPlain(state.rule)],
    ['limit', state.limitText],
    ['algorithm', state.algorithm],
    ['shadow_mode', `${state.shadowMode}`],
    ['quota_mode', `${state.quotaMode}`],
    ['store', state.store],
    ['counter', toPlain(state.key)],
    ['window', `${windowSeconds} s, since ${new Date(windowStart * 1000).toISOString()}`],
    ['hits', `${state.hits}`],
    ['remaining', `${remaining}`],
    ['over_limit', `${state.isOver}`],
    ['reset_seconds', `${resetSeconds}`],
  ]
  return lines.map(([name, value]) => `${name}: ${value}\n`).join('')
}

function toEntriesText(entries: readonly Entry[]): string {
  return entries.map(({ key, value }) => `${toPlain(key)}=${toPlain(value)}`).join(',')
}

/** Clients choose values, which must not begin a new line or control the terminal. */
function toPlain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}
