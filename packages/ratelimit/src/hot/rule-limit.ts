import type { JsonObject } from '../protocol/message.ts'
import {
  type Algorithm,
  algorithms,
  type Limit,
  type Match,
  type Unit,
  unitByWire,
} from '../rules/model/rule.ts'
import type { RuleCounters } from '../stats/rule-counters.ts'
import { algorithmShift, flag, type RuleDetail, readDetail, word } from './packed-rules.ts'
import type { RuleTable } from './rule-table.ts'

/*
 * Reads packed rows in place instead of creating objects per rule. According to decision 009, the objects between a rule
 * and its limit made decisions slower with 100,000 rules, because of CPU cache misses. This part was not measured
 * separately.
 */

/**
 * The properties that few rules have. All other rules share one object, so that it stays in the CPU caches.
 */
interface Extras extends RuleDetail {
  readonly name: string
  readonly sharedValues: readonly (string | undefined)[] | undefined
}

const noExtras: Extras = { name: '', replaces: [], metadata: undefined, sharedValues: undefined }

/**
 * The limit of a rule, which must have one. It reads the row of the rule, which is in the CPU caches when the
 * rule was just found; copies would not be.
 */
export class RuleLimit implements Limit {
  readonly #table: RuleTable
  readonly #row: number
  readonly #extras: Extras

  constructor(table: RuleTable, row: number) {
    this.#table = table
    this.#row = row
    this.#extras = toExtras(table, row)
  }

  get requestsPerUnit(): number {
    return this.#table.get(this.#row, word.requestsPerUnit) >>> 0
  }

  get unit(): Unit | undefined {
    return unitByWire(this.#table.get(this.#row, word.unit))
  }

  get windowSeconds(): number {
    const multiplier = this.#table.get(this.#row, word.unitMultiplier) >>> 0
    return (this.unit?.seconds ?? 0) * multiplier
  }

  get algorithm(): Algorithm {
    const index = this.#table.get(this.#row, word.flags) >> algorithmShift
    return algorithms[index] ?? 'fixed_window'
  }

  get unlimited(): boolean {
    return this.#table.has(this.#row, flag.isUnlimited)
  }

  get name(): string {
    return this.#extras.name
  }

  get replaces(): readonly string[] {
    return this.#extras.replaces
  }

  get shadowMode(): boolean {
    return this.#table.has(this.#row, flag.shadowMode)
  }

  get quotaMode(): boolean {
    return this.#table.has(this.#row, flag.quotaMode)
  }

  get metadata(): JsonObject | undefined {
    return this.#extras.metadata
  }

  get path(): string {
    return this.#table.pathOf(this.#row)
  }

  /** By level, as in `Match`. */
  get sharedValues(): readonly (string | undefined)[] | undefined {
    return this.#extras.sharedValues
  }
}

/** Copies the limit to a plain object, for programs. */
export function toPlainLimit(limit: Limit): Limit {
  const { requestsPerUnit, unit, windowSeconds, algorithm, unlimited } = limit
  const { name, replaces, shadowMode, quotaMode, metadata, path } = limit
  return {
    requestsPerUnit,
    unit,
    windowSeconds,
    algorithm,
    unlimited,
    name,
    replaces,
    shadowMode,
    quotaMode,
    metadata,
    path,
  }
}

function toExtras(table: RuleTable, row: number): Extras {
  const name = table.text(row, word.name)
  const detail = table.text(row, word.detail)
  const isShared = table.has(row, flag.hasSharedLevel)
  if (name === '' && detail === '' && !isShared) return noExtras
  const sharedValues = isShared ? toSharedValues(table, row) : undefined
  return { ...readDetail(detail), name, sharedValues }
}

function toSharedValues(table: RuleTable, row: number): (string | undefined)[] {
  const values: (string | undefined)[] = []
  for (let at = row; !table.isDomain(at); at = table.get(at, word.parent)) {
    values.push(table.has(at, flag.isShared) ? table.text(at, word.value) : undefined)
  }
  return values.reverse()
}

/** A matched rule and its limit in one object, because each object costs a CPU cache miss. */
export class RuleMatch extends RuleLimit implements Match {
  readonly counters: RuleCounters

  constructor(table: RuleTable, row: number, counters: RuleCounters) {
    super(table, row)
    this.counters = counters
  }

  get limit(): Limit {
    return this
  }
}
