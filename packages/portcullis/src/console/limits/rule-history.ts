/** The ranges of the charts of a rule. Each has a fixed number of steps, so memory use does not grow with time. */
const historyRanges = {
  '1h': { stepSeconds: 60, steps: 60 },
  '24h': { stepSeconds: 600, steps: 144 },
  '7d': { stepSeconds: 3_600, steps: 168 },
} as const

export type HistoryRange = keyof typeof historyRanges

export const historyRangeNames = Object.keys(historyRanges) as readonly HistoryRange[]

/** The hits of a rule between two readings. */
export interface RuleIncrease {
  readonly total: number
  readonly over: number
  /** The part of `over` that was allowed because of shadow mode. */
  readonly shadow: number
}

/** Hits per second, on average over one step. */
export type HistoryPoint = RuleIncrease

export interface RulePeriod {
  readonly range: HistoryRange
  readonly stepSeconds: number
  /** Oldest first; null for steps in which nothing was measured. */
  readonly points: readonly (HistoryPoint | null)[]
  /** The hits of the whole range. */
  readonly sums: RuleIncrease
}

/** If more rules than this have hits, those whose last hit is the oldest are dropped. */
const mostRules = 500

type Steps<Value> = Map<number, Value>

interface Series {
  lastMs: number
  /** Earlier hits are unknown, because the rule may have been dropped. */
  readonly sinceMs: number
  readonly byRange: Readonly<Record<HistoryRange, Steps<RuleIncrease>>>
}

/** The history as plain data. */
export interface HistoryData {
  /** How many milliseconds of each step were measured, by range. */
  readonly covered: Readonly<Record<HistoryRange, readonly (readonly [number, number])[]>>
  readonly rules: readonly RuleData[]
  readonly hasDropped: boolean
}

interface RuleData {
  readonly rule: string
  readonly lastMs: number
  readonly sinceMs: number
  /** The index of the step, then total, over and shadow. */
  readonly steps: Readonly<
    Record<HistoryRange, readonly (readonly [number, number, number, number])[]>
  >
}

const none: RuleIncrease = { total: 0, over: 0, shadow: 0 }

/** The hits of each rule over time. Only steps with hits take memory. */
export class RuleHistory {
  readonly #covered: Record<HistoryRange, Steps<number>>
  readonly #rules = new Map<string, Series>()
  #hasDropped: boolean

  constructor(data?: HistoryData) {
    this.#covered = byRange((range) => new Map(data?.covered[range] ?? []))
    this.#hasDropped = data?.hasDropped ?? false
    for (const { rule, lastMs, sinceMs, steps } of data?.rules ?? []) {
      const toSteps = (range: HistoryRange): Steps<RuleIncrease> =>
        new Map(
          steps[range].map(([index, total, over, shadow]) => [index, { total, over, shadow }]),
        )
      this.#rules.set(rule, { lastMs, sinceMs, byRange: byRange(toSteps) })
    }
  }

  /** Adds the hits between two readings, by statistics key; times in milliseconds since the epoch. */
  add(fromMs: number, toMs: number, increases: ReadonlyMap<string, RuleIncrease>): void {
    if (toMs <= fromMs) return
    for (const range of historyRangeNames) {
      const shares = toShares(range, fromMs, toMs)
      const covered = this.#covered[range]
      for (const { index, ms } of shares) covered.set(index, (covered.get(index) ?? 0) + ms)
      dropOld(covered, range, toMs)
      for (const [rule, increase] of increases) {
        if (increase.total === 0 && increase.over === 0) continue
        const series = this.#seriesOf(rule, fromMs)
        series.lastMs = toMs
        const steps = series.byRange[range]
        for (const { index, ms } of shares) {
          steps.set(index, addShare(steps.get(index) ?? none, increase, ms / (toMs - fromMs)))
        }
      }
      for (const { byRange: steps } of this.#rules.values()) dropOld(steps[range], range, toMs)
    }
    if (this.#rules.size > mostRules) this.#dropRules()
  }

  read(rule: string, range: HistoryRange, nowMs: number): RulePeriod {
    const { stepSeconds, steps: count } = historyRanges[range]
    const newest = Math.floor(nowMs / 1000 / stepSeconds)
    const series = this.#rules.get(rule)
    // If no rule was ever dropped, a step without data is a step without hits.
    const sinceMs = series?.sinceMs ?? (this.#hasDropped ? nowMs : 0)
    const indexes = Array.from({ length: count }, (_, at) => newest - count + 1 + at)
    let sums = none
    const points = indexes.map((index) => {
      const coveredMs = this.#covered[range].get(index)
      if (coveredMs === undefined || (index + 1) * stepSeconds * 1000 <= sinceMs) return null
      const hits = series?.byRange[range].get(index) ?? none
      sums = addShare(sums, hits, 1)
      return toRates(hits, coveredMs)
    })
    const { total, over, shadow } = sums
    const rounded = { total: Math.round(total), over: Math.round(over), shadow: Math.round(shadow) }
    return { range, stepSeconds, points, sums: rounded }
  }

  toData(): HistoryData {
    const toRows = (steps: Steps<RuleIncrease>) =>
      [...steps].map(([index, { total, over, shadow }]) => [index, total, over, shadow] as const)
    return {
      covered: byRange((range) => [...this.#covered[range]]),
      rules: [...this.#rules].map(([rule, { lastMs, sinceMs, byRange: steps }]) => ({
        rule,
        lastMs,
        sinceMs,
        steps: byRange((range) => toRows(steps[range])),
      })),
      hasDropped: this.#hasDropped,
    }
  }

  #seriesOf(rule: string, nowMs: number): Series {
    const known = this.#rules.get(rule)
    if (known !== undefined) return known
    const sinceMs = this.#hasDropped ? nowMs : 0
    const series = { lastMs: nowMs, sinceMs, byRange: byRange(() => new Map()) }
    this.#rules.set(rule, series)
    return series
  }

  #dropRules(): void {
    this.#hasDropped = true
    const oldest = [...this.#rules].sort(([, a], [, b]) => a.lastMs - b.lastMs)
    for (const [rule] of oldest.slice(0, this.#rules.size - mostRules)) this.#rules.delete(rule)
  }
}

function byRange<Value>(create: (range: HistoryRange) => Value): Record<HistoryRange, Value> {
  return { '1h': create('1h'), '24h': create('24h'), '7d': create('7d') }
}

/** Divides a time into the steps that it touches. */
function toShares(range: HistoryRange, fromMs: number, toMs: number) {
  const stepMs = historyRanges[range].stepSeconds * 1000
  const shares: { index: number; ms: number }[] = []
  for (let index = Math.floor(fromMs / stepMs); index * stepMs < toMs; index += 1) {
    const ms = Math.min(toMs, (index + 1) * stepMs) - Math.max(fromMs, index * stepMs)
    shares.push({ index, ms })
  }
  return shares
}

function dropOld(steps: Steps<unknown>, range: HistoryRange, nowMs: number): void {
  const { stepSeconds, steps: count } = historyRanges[range]
  const oldest = Math.floor(nowMs / 1000 / stepSeconds) - count
  for (const index of steps.keys()) if (index < oldest) steps.delete(index)
}

function addShare(sum: RuleIncrease, more: RuleIncrease, share: number): RuleIncrease {
  return {
    total: sum.total + more.total * share,
    over: sum.over + more.over * share,
    shadow: sum.shadow + more.shadow * share,
  }
}

function toRates({ total, over, shadow }: RuleIncrease, coveredMs: number): HistoryPoint {
  const toRate = (count: number) => Math.round((count * 1e6) / coveredMs) / 1000
  return { total: toRate(total), over: toRate(over), shadow: toRate(shadow) }
}
