/** What the rules have counted since the service started, by rule. */
export type Counters = ReadonlyMap<string, RuleCount>

export interface RuleCount {
  readonly hits: number
  readonly over: number
  readonly shadow: number
}

const fields: Readonly<Record<string, keyof RuleCount>> = {
  total_hits: 'hits',
  over_limit: 'over',
  shadow_mode: 'shadow',
}
/** Tags of EXTRA_TAGS follow the name: `total_hits.__env=live`. */
const line = /^(.+)\.(total_hits|over_limit|shadow_mode)(?:\.__[^:\n]*)?: (\d+)$/gm
const none: RuleCount = { hits: 0, over: 0, shadow: 0 }

/** Reads the lines of `/stats` that count decisions. */
export function parseCounters(text: string): Counters {
  const counters = new Map<string, Record<keyof RuleCount, number>>()
  for (const [, rule = '', name = '', value] of text.matchAll(line)) {
    const field = fields[name]
    if (field === undefined) continue
    const counts = counters.get(rule) ?? { ...none }
    counts[field] = Number(value)
    counters.set(rule, counts)
  }
  return counters
}

/**
 * What came in between. A counter that is lower than it was began anew, with the service or with a key that
 * had been forgotten: what it shows has all been counted since.
 */
export function toIncrease(before: Counters, after: Counters): RuleCount {
  const sum = { ...none }
  for (const [rule, now] of after) {
    const then = before.get(rule) ?? none
    const base = now.hits < then.hits ? none : then
    sum.hits += now.hits - base.hits
    sum.over += Math.max(0, now.over - base.over)
    sum.shadow += Math.max(0, now.shadow - base.shadow)
  }
  return sum
}

/** Our service tells how long it has been running; the original does not. */
export function parseUptimeSeconds(text: string): number | undefined {
  const [, seconds] = /^ratelimit\.node\.uptime_seconds(?:\.__[^:\n]*)?: (\d+)$/m.exec(text) ?? []
  return seconds === undefined ? undefined : Number(seconds)
}
