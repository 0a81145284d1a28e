/** Decisions per second, on average over one step of a chart. */
export interface DecisionsPoint {
  readonly total: number
  readonly over: number
  /** The part of `over` that was allowed because the rule is in shadow mode. */
  readonly shadow: number
}

export interface DecisionsPeriod {
  /** Oldest first, one per step of the range; null for steps without a measurement. */
  readonly points: readonly (DecisionsPoint | null)[]
  /** Seconds from one point to the next. */
  readonly stepSeconds: number
  /** The end of the newest step, in milliseconds since the epoch. */
  readonly until: number
  /** The totals of the range. */
  readonly sums: RuleCount
  /** Decisions per second, averaged over the last steps, since single steps vary too much. */
  readonly current: number | undefined
}

interface DecisionHistory {
  /** Adds the counts between two readings; times in milliseconds since the epoch. */
  add(fromMs: number, toMs: number, count: RuleCount): void
  read(range: RangeName, nowMs: number): DecisionsPeriod
}

interface Step extends RuleCount {
  /** How much of the step was measured. */
  readonly coveredMs: number
}

const noStep: Step = { hits: 0, over: 0, shadow: 0, coveredMs: 0 }
const currentMs = 10_000

/** Aggregates counts into steps, separately for each range. */
export function createDecisionHistory(): DecisionHistory {
  const kept = new Map(rangeNames.map((name) => [name, new Map<number, Step>()]))

  return {
    add(fromMs, toMs, count) {
      if (toMs <= fromMs) return
      for (const [name, steps] of kept) {
        const stepMs = ranges[name].stepSeconds * 1000
        for (let index = Math.floor(fromMs / stepMs); index * stepMs < toMs; index += 1) {
          const coveredMs = Math.min(toMs, (index + 1) * stepMs) - Math.max(fromMs, index * stepMs)
          const share = coveredMs / (toMs - fromMs)
          steps.set(index, addSteps(steps.get(index) ?? noStep, scale(count, share, coveredMs)))
        }
        const oldest = Math.floor(toMs / stepMs) - toCapacity(name)
        for (const index of steps.keys()) if (index < oldest) steps.delete(index)
      }
    },
    read(range, nowMs) {
      const steps = kept.get(range) ?? new Map<number, Step>()
      const { stepSeconds } = ranges[range]
      const newest = Math.floor(nowMs / (stepSeconds * 1000))
      const capacity = toCapacity(range)
      const listed = Array.from({ length: capacity }, (_, age) =>
        steps.get(newest - capacity + 1 + age),
      )
      const { hits, over, shadow } = listed.reduce<Step>(
        (sum, step) => addSteps(sum, step ?? noStep),
        noStep,
      )
      return {
        points: listed.map((step) => (step === undefined ? null : toPoint(step))),
        stepSeconds,
        until: (newest + 1) * stepSeconds * 1000,
        sums: { hits: Math.round(hits), over: Math.round(over), shadow: Math.round(shadow) },
        current: toCurrent(kept.get('15m') ?? new Map(), nowMs),
      }
    },
  }
}

function toCapacity(range: RangeName): number {
  const { minutes, stepSeconds } = ranges[range]
  return (minutes * 60) / stepSeconds
}

function addSteps(left: Step, right: Step): Step {
  return {
    hits: left.hits + right.hits,
    over: left.over + right.over,
    shadow: left.shadow + right.shadow,
    coveredMs: left.coveredMs + right.coveredMs,
  }
}

function scale({ hits, over, shadow }: RuleCount, share: number, coveredMs: number): Step {
  return { hits: hits * share, over: over * share, shadow: shadow * share, coveredMs }
}

function toPoint({ hits, over, shadow, coveredMs }: Step): DecisionsPoint {
  const toRate = (count: number) => Math.round((count * 1e6) / coveredMs) / 1000
  return { total: toRate(hits), over: toRate(over), shadow: toRate(shadow) }
}

function toCurrent(steps: ReadonlyMap<number, Step>, nowMs: number): number | undefined {
  const stepMs = ranges['15m'].stepSeconds * 1000
  const recent = [...steps].filter(([index]) => (index + 1) * stepMs > nowMs - currentMs)
  const sum = recent.reduce<Step>((total, [, step]) => addSteps(total, step), noStep)
  return sum.coveredMs === 0 ? undefined : toPoint(sum).total
}

/** Counts since the service started, by rule. */
export type Counters = ReadonlyMap<string, RuleCount>

interface RuleCount {
  readonly hits: number
  readonly over: number
  readonly shadow: number
}

const fields: Readonly<Record<string, keyof RuleCount>> = {
  total_hits: 'hits',
  over_limit: 'over',
  shadow_mode: 'shadow',
}
/** The tags from EXTRA_TAGS follow the name: `total_hits.__env=live`. */
const line = /^(.+)\.(total_hits|over_limit|shadow_mode)(?:\.__[^:\n]*)?: (\d+)$/gm
const noCount: RuleCount = { hits: 0, over: 0, shadow: 0 }

/** Reads the lines of `/stats` that count decisions. */
export function parseCounters(text: string): Counters {
  const counters = new Map<string, Record<keyof RuleCount, number>>()
  for (const [, rule = '', name = '', value] of text.matchAll(line)) {
    const field = fields[name]
    if (field === undefined) continue
    const counts = counters.get(rule) ?? { ...noCount }
    counts[field] = Number(value)
    counters.set(rule, counts)
  }
  return counters
}

/**
 * Returns the difference between two readings. A counter that is lower than before was reset, by a restart or
 * because its key was evicted; its whole value is new.
 */
export function toIncrease(before: Counters, after: Counters): RuleCount {
  const sum = { ...noCount }
  for (const [rule, now] of after) {
    const then = before.get(rule) ?? noCount
    const base = now.hits < then.hits ? noCount : then
    sum.hits += now.hits - base.hits
    sum.over += Math.max(0, now.over - base.over)
    sum.shadow += Math.max(0, now.shadow - base.shadow)
  }
  return sum
}

/** Portcullis reports its uptime; envoyproxy/ratelimit does not. */
export function parseUptimeSeconds(text: string): number | undefined {
  const [, seconds] = /^ratelimit\.node\.uptime_seconds(?:\.__[^:\n]*)?: (\d+)$/m.exec(text) ?? []
  return seconds === undefined ? undefined : Number(seconds)
}

/** The ranges of the charts. Each is bounded, so memory use does not grow with time. */
const ranges = {
  '15m': { minutes: 15, stepSeconds: 5 },
  '1h': { minutes: 60, stepSeconds: 20 },
  '24h': { minutes: 1_440, stepSeconds: 300 },
} as const

export type RangeName = keyof typeof ranges

export const rangeNames = Object.keys(ranges) as readonly RangeName[]
