import type { Counter } from '@portcullis/service-kit/metrics/instruments'
import type { Families, Row, Table } from '@portcullis/service-kit/metrics/prometheus/families'
import { Pace } from '@portcullis/service-kit/metrics/slices'
import { parseTags } from '@portcullis/service-kit/metrics/tags'
import { Differences } from '../../differences.ts'
import { type DroppedBatch, DroppedCounters } from '../../dropped-counters.ts'
import type { Statistics } from '../../registry.ts'
import type { RuleCounters } from '../../rule-counters.ts'
import { type Mapped, type Mapping, type SharedLabels, toTagLabels } from './mapping.ts'

interface CollectorSettings {
  readonly statistics: Statistics
  readonly mapping: Mapping
  readonly families: Families
  readonly processGauges: () => Iterable<readonly [name: string, value: number]>
}

const droppedDelayMs = 500

/**
 * Brings the series of the page up to date. Several counters may add to one series, and counters may be dropped, so
 * a series grows by the differences of its counters and never shrinks.
 */
export class Collector implements Disposable {
  readonly #statistics: Statistics
  readonly #mapping: Mapping
  readonly #families: Families
  readonly #processGauges: CollectorSettings['processGauges']
  readonly #openTarget: (key: string) => RuleTarget
  readonly #differences = new Differences()
  readonly #rules = new WeakMap<RuleCounters, RuleTarget>()
  readonly #counters = new WeakMap<Counter, readonly Row[]>()
  readonly #gauges = new Map<string, Row | undefined>()
  readonly #dropped: DroppedCounters
  readonly #pace = new Pace()
  #work: Promise<void> | undefined
  #hasCollected = false

  constructor({ statistics, mapping, families, processGauges }: CollectorSettings) {
    this.#statistics = statistics
    this.#mapping = mapping
    this.#families = families
    this.#processGauges = processGauges
    this.#openTarget = createRuleTargets(mapping, families)
    this.#dropped = new DroppedCounters(statistics, {
      delayMs: droppedDelayMs,
      most: Number.POSITIVE_INFINITY,
      ready: () => void (this.#hasCollected ? this.#collectDropped() : this.collect()),
    })
    statistics.eachTimer((name, timer) => {
      timer.observer = this.#openHistogram(name)
    })
  }

  /** Works in slices. A call during a collection returns the promise of that collection. */
  collect(): Promise<void> {
    this.#work ??= this.#collectAll().finally(() => {
      this.#work = undefined
    })
    return this.#work
  }

  [Symbol.dispose](): void {
    this.#dropped[Symbol.dispose]()
    this.#statistics.eachTimer((_, timer) => {
      timer.observer = undefined
    })
  }

  async #collectAll(): Promise<void> {
    await this.#statistics.refresh?.()
    const { counters, gauges, rules } = this.#statistics
    for (const [name, counter] of counters) {
      this.#addCounter(counter, () => [this.#map(name, 'counter')])
    }
    for (const [name, read] of gauges) this.#setGauge(name, read())
    for (const [name, value] of this.#processGauges()) this.#setGauge(name, value)
    for (const [domain, counter] of this.#statistics.unknownDomains()) {
      this.#addDomain(domain, counter)
      const pause = this.#pace.step()
      if (pause !== undefined) await pause
    }
    for (const [key, counters] of rules.entries()) {
      this.#addRule(key, counters)
      const pause = this.#pace.step()
      if (pause !== undefined) await pause
    }
    // Dropped counters come last: a series that another rule still uses must be joined by that rule before others
    // leave it, or it would be removed.
    this.#hasCollected = true
    await this.#collectDropped()
  }

  async #collectDropped(): Promise<void> {
    for (let batch = this.#dropped.take(); batch; batch = this.#dropped.take()) {
      await this.#release(batch)
    }
  }

  async #release(batch: DroppedBatch): Promise<void> {
    if (batch.kind === 'rules') {
      for (const [key, counters] of batch.counters) {
        this.#addRule(key, counters).leave()
        const pause = this.#pace.step()
        if (pause !== undefined) await pause
      }
    } else {
      for (const [domain, counter] of batch.counters) {
        for (const row of this.#addDomain(domain, counter)) row.leave()
        const pause = this.#pace.step()
        if (pause !== undefined) await pause
      }
    }
  }

  #addRule(key: string, counters: RuleCounters): RuleTarget {
    let target = this.#rules.get(counters)
    if (target === undefined) {
      target = this.#openTarget(key)
      this.#rules.set(counters, target)
    }
    this.#differences.takeRule(counters, target)
    return target
  }

  #addDomain(domain: string, counter: Counter): readonly Row[] {
    return this.#addCounter(counter, () => this.#mapping.unknownDomain(domain))
  }

  #addCounter(counter: Counter, map: () => readonly (Mapped | undefined)[]): readonly Row[] {
    let rows = this.#counters.get(counter)
    if (rows === undefined) {
      rows = map().flatMap((mapped) => this.#openRow(mapped) ?? [])
      this.#counters.set(counter, rows)
    }
    const by = this.#differences.take(counter)
    for (const row of rows) row.add(0, by)
    return rows
  }

  #openRow(mapped: Mapped | undefined): Row | undefined {
    return mapped && openRow(mapped, this.#families)?.show().join()
  }

  #setGauge(name: string, value: number): void {
    if (!this.#gauges.has(name)) {
      const mapped = this.#map(name, 'gauge')
      this.#gauges.set(name, mapped && openRow(mapped, this.#families, 'gauge')?.show())
    }
    const row = this.#gauges.get(name)
    if (row !== undefined) row.values[0] = value
  }

  #openHistogram(name: string): ((durationMs: number) => void) | undefined {
    const mapped = this.#map(name, 'timer')
    if (mapped?.histogram === undefined) return undefined
    const { buckets, scale } = mapped.histogram
    const labels = this.#families.toLabelText(mapped.labels, mapped.honorsTags)
    const histogram = this.#families.histogram(mapped, labels, buckets)
    return histogram && ((durationMs) => histogram.observe(durationMs * scale))
  }

  /** Maps a name, and turns the tags in it into labels. */
  #map(registered: string, type: 'counter' | 'gauge' | 'timer'): Mapped | undefined {
    const { name, tags } = parseTags(registered)
    const mapped = this.#mapping.named(name, type)
    if (mapped === undefined || tags.length === 0) return mapped
    const tagLabels = toTagLabels(tags)
    const ordered = mapped.honorsTags
      ? [...mapped.labels, ...tagLabels]
      : [...tagLabels, ...mapped.labels]
    return { ...mapped, labels: [...new Map(ordered)] }
  }
}

/**
 * The series of one rule, in the order of `ruleStatistics`. They are not printed before the first hit, because
 * most of a hundred thousand rules may never be hit.
 */
interface RuleTarget {
  add(statistic: number, by: number): void
  /** Called when the counters of the rule were dropped. */
  leave(): void
}

/** Returns a function that opens the series of a rule by its key. */
function createRuleTargets({ rules }: Mapping, families: Families): (key: string) => RuleTarget {
  if (rules.kind === 'separate') return (key) => new SeparateRows(rules.map(key), families)
  const table = families.addTable('counter', rules.columns)
  return (key) => new SharedRow(key, table, rules, families)
}

class SharedRow implements RuleTarget {
  readonly #key: string
  readonly #labels: SharedLabels
  readonly #families: Families
  readonly #row: Row
  /** Additional series by statistic; most rules have none. */
  #besides: Map<number, Row | undefined> | undefined

  constructor(key: string, table: Table, labels: SharedLabels, families: Families) {
    this.#key = key
    this.#labels = labels
    this.#families = families
    this.#row = table.row(families.toLabelText(labels.toLabels(key))).join()
  }

  add(statistic: number, by: number): void {
    this.#row.show().add(statistic, by)
    const map = this.#labels.besides?.[statistic]
    if (map === undefined) return
    this.#besides ??= new Map()
    if (!this.#besides.has(statistic)) {
      this.#besides.set(statistic, openRow(map(this.#key), this.#families)?.show().join())
    }
    this.#besides.get(statistic)?.add(0, by)
  }

  leave(): void {
    this.#row.leave()
    for (const row of this.#besides?.values() ?? []) row?.leave()
  }
}

class SeparateRows implements RuleTarget {
  readonly #rows: readonly (Row | undefined)[]
  #isShown = false

  constructor(mapped: readonly (Mapped | undefined)[], families: Families) {
    this.#rows = mapped.map((each) => each && openRow(each, families)?.join())
  }

  add(statistic: number, by: number): void {
    if (!this.#isShown) for (const row of this.#rows) row?.show()
    this.#isShown = true
    this.#rows[statistic]?.add(0, by)
  }

  leave(): void {
    for (const row of this.#rows) row?.leave()
  }
}

/** Opens a row with one value, which is not shown yet. Returns undefined if another type uses the name. */
function openRow(
  mapped: Mapped,
  families: Families,
  type: 'counter' | 'gauge' = 'counter',
): Row | undefined {
  const labels = families.toLabelText(mapped.labels, mapped.honorsTags)
  return families.table(type, mapped)?.row(labels)
}
