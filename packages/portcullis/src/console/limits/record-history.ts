import { toMessage } from '@portcullis/service-kit/text/reason'
import type { RatelimitTarget } from '../settings.ts'
import { readHistoryFile, writeHistoryFile } from './history-file.ts'
import { createSumByRule, type SumByRule } from './live-counters.ts'
import { type RuleBook, readRuleBook } from './rule-book.ts'
import { type HistoryRange, RuleHistory, type RulePeriod } from './rule-history.ts'
import { type LimitStatistics, noCounts, type RuleCounts, readCounters } from './statistics.ts'

export interface HistoryState extends RulePeriod {
  /** Why there are no newer values. */
  readonly fault: string | undefined
}

interface RecorderParts {
  readonly readStatistics: () => Promise<LimitStatistics>
  readonly readRuleBook: () => Promise<RuleBook>
  readonly now: () => number
  readonly file: string | undefined
}

/** Two readings that are further apart are not compared, since it is unknown when the hits between them happened. */
const longestGapMs = 120_000

const saveMs = 60_000

/** Reads the counters of all rules for as long as the console runs, and records their increases. */
export class HistoryRecorder implements Disposable {
  readonly #parts: RecorderParts
  readonly #history: RuleHistory
  #before: { readonly atMs: number; readonly rules: LimitStatistics['rules'] } | undefined
  #sumByRule: SumByRule | undefined
  #loads: number | undefined
  #fault: string | undefined
  #reading: Promise<void> | undefined
  #nextReading: Promise<void> | undefined
  #savedMs = 0
  #hasNews = false

  constructor(parts: RecorderParts) {
    this.#parts = parts
    this.#history = new RuleHistory(
      parts.file === undefined ? undefined : readHistoryFile(parts.file),
    )
  }

  read(rule: string, range: HistoryRange): HistoryState {
    return { ...this.#history.read(rule, range, this.#parts.now()), fault: this.#fault }
  }

  /**
   * Reads the counters. Readings never overlap, since a late one would be compared with a newer one. A call during
   * a reading gets the next one, because the current one may lack the latest hits.
   * Never rejects: a failure becomes part of the state.
   */
  refresh(): Promise<void> {
    if (this.#reading === undefined) {
      this.#reading = this.#record().finally(() => {
        this.#reading = undefined
      })
      return this.#reading
    }
    this.#nextReading ??= this.#reading.then(() => {
      this.#nextReading = undefined
      return this.refresh()
    })
    return this.#nextReading
  }

  async #record(): Promise<void> {
    try {
      const { loads, rules } = await this.#parts.readStatistics()
      const atMs = this.#parts.now()
      if (this.#sumByRule === undefined || loads !== this.#loads) {
        this.#sumByRule = createSumByRule(await this.#parts.readRuleBook())
        this.#loads = loads
      }
      const before = this.#before
      if (before !== undefined && atMs - before.atMs < longestGapMs) {
        this.#history.add(before.atMs, atMs, this.#sumByRule(toIncreases(before.rules, rules)))
        this.#hasNews = true
      }
      this.#before = { atMs, rules }
      this.#fault = undefined
      if (atMs - this.#savedMs >= saveMs) this.#save(atMs)
    } catch (error) {
      // Otherwise the increase during an outage would appear all at once afterwards.
      this.#before = undefined
      this.#fault = toMessage(error)
    }
  }

  [Symbol.dispose](): void {
    this.#save(this.#parts.now())
  }

  #save(nowMs: number): void {
    const { file } = this.#parts
    this.#savedMs = nowMs
    if (file === undefined || !this.#hasNews) return
    this.#hasNews = false
    try {
      writeHistoryFile(file, this.#history.toData())
    } catch (error) {
      console.error(`The history of the limits could not be saved: ${toMessage(error)}`)
    }
  }
}

/** Records the service that the console shows. */
export function createHistoryRecorder(target: RatelimitTarget): HistoryRecorder {
  return new HistoryRecorder({
    readStatistics: () => readCounters(target.debugUrl),
    readRuleBook: () => readRuleBook(target),
    now: Date.now,
    file: target.historyFile,
  })
}

/** If a counter is lower than before, a restart reset it or its key was dropped, so its whole value is new. */
function toIncreases(
  before: LimitStatistics['rules'],
  after: LimitStatistics['rules'],
): Map<string, RuleCounts> {
  const increases = new Map<string, RuleCounts>()
  for (const [key, now] of after) {
    const then = before.get(key) ?? noCounts
    if (now.total === then.total) continue
    const base = now.total < then.total ? noCounts : then
    increases.set(key, {
      total: now.total - base.total,
      within: Math.max(0, now.within - base.within),
      near: Math.max(0, now.near - base.near),
      over: Math.max(0, now.over - base.over),
      shadow: Math.max(0, now.shadow - base.shadow),
    })
  }
  return increases
}
