import type { Families, Row, Table } from './families.ts'
import type { Mapped, Mapping, SharedLabels } from './mapping.ts'

/**
 * What the statistics of one rule add to, in the order of `ruleStatistics`. It is not printed before
 * the first hit: most of a hundred thousand rules may never have one.
 */
export interface RuleTarget {
  add(statistic: number, by: number): void
  /** The rule is forgotten. */
  leave(): void
}

/** How to find what a rule adds to by its key. */
export function createRuleTargets(
  { rules }: Mapping,
  families: Families,
): (key: string) => RuleTarget {
  if (rules.kind === 'separate') return (key) => new SeparateRows(rules.map(key), families)
  const table = families.addTable('counter', rules.columns)
  return (key) => new SharedRow(key, table, rules, families)
}

class SharedRow implements RuleTarget {
  readonly #key: string
  readonly #labels: SharedLabels
  readonly #families: Families
  readonly #row: Row
  /** By statistic; most rules have none. */
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

/** A row with one value, not shown yet. Undefined when its name is taken by another type. */
export function openRow(
  mapped: Mapped,
  families: Families,
  type: 'counter' | 'gauge' = 'counter',
): Row | undefined {
  const labels = families.toLabelText(mapped.labels, mapped.honorsTags)
  return families.table(type, mapped)?.row(labels)
}
