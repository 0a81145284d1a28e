import type { Log } from '../../log/log.ts'
import { toShownCount } from '../instruments.ts'
import { Histogram } from './histogram.ts'
import { type Labels, toLabelText } from './text.ts'

/** The name of a metric, and the comments that are printed above its series. */
export interface MetricHead {
  readonly name: string
  readonly help: string
  readonly unit?: string | undefined
}

/** Counters or gauges with the same labels. Each column is a metric, each row a set of labels. */
export class Table {
  readonly type: 'counter' | 'gauge'
  readonly columns: readonly MetricHead[]
  /** The rows by the text of their labels. */
  readonly rows = new Map<string, Row>()
  /** The rows that are printed. */
  readonly shown = new Set<Row>()
  readonly #onEmpty: () => void

  constructor(
    type: 'counter' | 'gauge',
    columns: readonly MetricHead[],
    onEmpty: () => void = () => {},
  ) {
    this.type = type
    this.columns = columns
    this.#onEmpty = onEmpty
  }

  row(labels: string): Row {
    let row = this.rows.get(labels)
    if (row === undefined) {
      row = new Row(this, labels)
      this.rows.set(labels, row)
    }
    return row
  }

  remove(row: Row): void {
    this.rows.delete(row.labels)
    this.shown.delete(row)
    if (this.rows.size === 0) this.#onEmpty()
  }
}

export class Row {
  readonly #table: Table
  /** The labels as they are printed. */
  readonly labels: string
  /** One value per column. */
  readonly values: number[]
  #members = 0

  constructor(table: Table, labels: string) {
    this.#table = table
    this.labels = labels
    this.values = table.columns.map(() => 0)
  }

  add(column: number, by: number): void {
    this.values[column] = toShownCount((this.values[column] ?? 0) + by)
  }

  /** Prints the row from now on, even while its values are 0. */
  show(): this {
    this.#table.shown.add(this)
    return this
  }

  /** Registers a counter that adds to this row. */
  join(): this {
    this.#members += 1
    return this
  }

  /** Unregisters a counter. The row is removed with its last counter. */
  leave(): void {
    this.#members -= 1
    if (this.#members === 0) this.#table.remove(this)
  }
}

/** Everything that is printed under one name. */
export type Family =
  | {
      readonly type: 'histogram'
      readonly head: MetricHead
      readonly series: Map<string, Histogram>
    }
  | {
      readonly type: 'counter' | 'gauge'
      readonly head: MetricHead
      readonly table: Table
      readonly column: number
    }

/** Limits the log: names may be made from requests, and so may conflicts. */
const maxReportedConflicts = 20

/** All metrics of a page. A name has one type. */
export class Families {
  readonly #families = new Map<string, Family>()
  readonly #commonLabels: Labels
  readonly #log: Log
  readonly #conflicts = new Set<string>()

  /** @param commonLabels are added to each series. */
  constructor(commonLabels: Labels, log: Log) {
    this.#commonLabels = commonLabels
    this.#log = log
  }

  [Symbol.iterator](): IterableIterator<[string, Family]> {
    return this.#families.entries()
  }

  /** The caller must make sure that no other metric has one of these names. */
  addTable(type: 'counter' | 'gauge', columns: readonly MetricHead[], onEmpty?: () => void): Table {
    const table = new Table(type, columns, onEmpty)
    for (const [column, head] of columns.entries()) {
      this.#families.set(head.name, { type, head, table, column })
    }
    return table
  }

  /** A table with one column. Undefined if a metric of another type has the name. */
  table(type: 'counter' | 'gauge', { name, help, unit }: MetricHead): Table | undefined {
    const known = this.#families.get(name)
    if (known !== undefined && known.type === type) return known.table
    const base = this.#families.get(name.replace(/_(?:bucket|sum|count)$/, ''))
    if (known !== undefined || base?.type === 'histogram') return this.#refuse(name)
    // Names may be made from requests, so a name without rows is not kept.
    return this.addTable(type, [{ name, help, unit }], () => this.#families.delete(name))
  }

  /** Undefined if a metric of another type has the name. */
  histogram(
    { name, help, unit }: MetricHead,
    labels: string,
    bounds: readonly number[],
  ): Histogram | undefined {
    const known = this.#families.get(name)
    const parts = [`${name}_bucket`, `${name}_sum`, `${name}_count`]
    const isTaken = known === undefined && parts.some((part) => this.#families.has(part))
    if (isTaken || (known !== undefined && known.type !== 'histogram')) return this.#refuse(name)
    const series = known?.series ?? new Map<string, Histogram>()
    if (known === undefined) {
      this.#families.set(name, { type: 'histogram', head: { name, help, unit }, series })
    }
    const histogram = series.get(labels) ?? new Histogram(labels, bounds)
    series.set(labels, histogram)
    return histogram
  }

  /**
   * The labels of a series as they are printed, with the common labels.
   * @param prefersCommon decides which label wins if a common label has the same name.
   */
  toLabelText(labels: Labels, prefersCommon = false): string {
    if (this.#commonLabels.length === 0) return toLabelText(labels)
    const ordered = prefersCommon
      ? [...labels, ...this.#commonLabels]
      : [...this.#commonLabels, ...labels]
    return toLabelText([...new Map(ordered)])
  }

  #refuse(name: string): undefined {
    if (this.#conflicts.has(name) || this.#conflicts.size >= maxReportedConflicts) return
    this.#conflicts.add(name)
    this.#log.warning(
      `A statistic is not exported to Prometheus: a metric of another type already has the name ${name}`,
    )
  }
}
