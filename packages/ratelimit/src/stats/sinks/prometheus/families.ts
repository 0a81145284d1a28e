import type { Log } from '@portcullis/service-kit/log'
import { toShownCount } from '../../instruments.ts'
import { type Column, type Labels, toLabelText } from './mapping.ts'

/** Counters or gauges that have their labels in common, a name for each column. */
export class Table {
  readonly type: 'counter' | 'gauge'
  readonly columns: readonly Column[]
  /** By their labels. */
  readonly rows = new Map<string, Row>()
  /** Those that are printed. */
  readonly shown = new Set<Row>()
  readonly #becameEmpty: () => void

  constructor(
    type: 'counter' | 'gauge',
    columns: readonly Column[],
    becameEmpty: () => void = () => {},
  ) {
    this.type = type
    this.columns = columns
    this.#becameEmpty = becameEmpty
  }

  row(labels: string): Row {
    let row = this.rows.get(labels)
    if (row === undefined) {
      row = new Row(this, labels)
      this.rows.set(labels, row)
    }
    return row
  }

  forget(row: Row): void {
    this.rows.delete(row.labels)
    this.shown.delete(row)
    if (this.rows.size === 0) this.#becameEmpty()
  }
}

export class Row {
  readonly #table: Table
  /** As they are printed. */
  readonly labels: string
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

  /** Prints it from now on, also while it is 0. */
  show(): this {
    this.#table.shown.add(this)
    return this
  }

  /** For a counter that adds to it. */
  join(): this {
    this.#members += 1
    return this
  }

  /** Without any counter it is forgotten. */
  leave(): void {
    this.#members -= 1
    if (this.#members === 0) this.#table.forget(this)
  }
}

/** What is printed under one name. */
export type Family =
  | { readonly type: 'histogram'; readonly help: string; readonly series: Map<string, Histogram> }
  | {
      readonly type: 'counter' | 'gauge'
      readonly help: string
      readonly table: Table
      readonly column: number
    }

/** More than that nobody reads. */
const mostConflicts = 20

/** Everything that Prometheus is shown. A name has one type. */
export class Families {
  readonly #families = new Map<string, Family>()
  readonly #tagLabels: Labels
  readonly #log: Log
  readonly #conflicts = new Set<string>()

  /** @param tagLabels are on all series. */
  constructor(tagLabels: Labels, log: Log) {
    this.#tagLabels = tagLabels
    this.#log = log
  }

  [Symbol.iterator](): IterableIterator<[string, Family]> {
    return this.#families.entries()
  }

  /** For names that nothing else has. */
  addTable(type: 'counter' | 'gauge', columns: readonly Column[], becameEmpty?: () => void): Table {
    const table = new Table(type, columns, becameEmpty)
    for (const [column, { name, help }] of columns.entries()) {
      this.#families.set(name, { type, help, table, column })
    }
    return table
  }

  /** Undefined when the name is one of another type already. */
  table(type: 'counter' | 'gauge', { name, help }: Column): Table | undefined {
    const known = this.#families.get(name)
    if (known !== undefined && known.type === type) return known.table
    const base = this.#families.get(name.replace(/_(?:bucket|sum|count)$/, ''))
    if (known !== undefined || base?.type === 'histogram') return this.#refuse(name)
    // Names may be made from requests as well.
    return this.addTable(type, [{ name, help }], () => this.#families.delete(name))
  }

  histogram(
    { name, help }: Column,
    labels: string,
    buckets: readonly number[],
  ): Histogram | undefined {
    const known = this.#families.get(name)
    const parts = [`${name}_bucket`, `${name}_sum`, `${name}_count`]
    const isTaken = known === undefined && parts.some((part) => this.#families.has(part))
    if (isTaken || (known !== undefined && known.type !== 'histogram')) return this.#refuse(name)
    const series = known?.series ?? new Map<string, Histogram>()
    if (known === undefined) this.#families.set(name, { type: 'histogram', help, series })
    const histogram = series.get(labels) ?? new Histogram(labels, buckets)
    series.set(labels, histogram)
    return histogram
  }

  /** With the tags that all have; where names are the same the label wins, or else the tag. */
  toLabelText(labels: Labels, honorsTags = false): string {
    if (this.#tagLabels.length === 0) return toLabelText(labels)
    const ordered = honorsTags ? [...labels, ...this.#tagLabels] : [...this.#tagLabels, ...labels]
    return toLabelText([...new Map(ordered)])
  }

  #refuse(name: string): undefined {
    if (this.#conflicts.has(name) || this.#conflicts.size >= mostConflicts) return
    this.#conflicts.add(name)
    this.#log.warning(
      `A statistic is not shown to Prometheus: ${name} is the name of one of another type already`,
    )
  }
}

/** Counts durations by how long they were. */
export class Histogram {
  /** As they are printed. */
  readonly labels: string
  readonly bounds: readonly number[]
  /** Per bound, and one more for what is beyond all of them. */
  readonly counts: Float64Array
  sum = 0

  constructor(labels: string, bounds: readonly number[]) {
    this.labels = labels
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds } = this
    let at = 0
    // Nearly all durations lie in the first bucket: no search is faster.
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1
    this.counts[at] = (this.counts[at] ?? 0) + 1
    this.sum += value
  }
}
