import type { Counter } from '@portcullis/service-kit/metrics/instruments'
import type { LineFormat, StatisticType } from '@portcullis/service-kit/metrics/lines/line-format'
import type { Output } from '@portcullis/service-kit/metrics/lines/output'
import { Pace } from '@portcullis/service-kit/metrics/slices'
import { parseTags, type Tag } from '@portcullis/service-kit/metrics/tags'
import { Differences, type RuleSum } from '../../differences.ts'
import { rulePrefix, toUnknownDomainName } from '../../registry.ts'
import type { RuleCounters } from '../../rule-counters.ts'
import { ruleStatistics } from '../../rule-statistics.ts'

const noTags: readonly Tag[] = []

/** Writes statistics as lines to an output, counters as differences. */
export class LineWriter implements RuleSum {
  readonly #format: LineFormat
  readonly #output: Output
  readonly #differences = new Differences()
  readonly #pace = new Pace()
  #key = ''

  constructor(format: LineFormat, output: Output) {
    this.#format = format
    this.#output = output
  }

  /** Whether there is a connection. */
  get isOpen(): boolean {
    return this.#output.isOpen
  }

  /** @param registered - a name that may contain tags */
  value(type: StatisticType, registered: string, value: number): void {
    // statsd has no text for NaN and infinity.
    if (!Number.isFinite(value)) return
    const { name, tags } = parseTags(registered)
    this.#output.write(this.#format(type, name, tags, value))
  }

  counter(name: string, counter: Counter): void {
    const difference = this.#differences.take(counter)
    if (difference !== 0) this.value('counter', name, difference)
  }

  domain(domain: string, counter: Counter): void {
    const difference = this.#differences.take(counter)
    if (difference === 0) return
    this.#output.write(this.#format('counter', toUnknownDomainName(domain), noTags, difference))
  }

  rule(key: string, counters: RuleCounters): void {
    this.#key = key
    this.#differences.takeRule(counters, this)
  }

  /** Writes a statistic of the rule that `rule()` was called with. */
  add(statistic: number, by: number): void {
    const name = `${rulePrefix}${this.#key}.${ruleStatistics[statistic]?.[0]}`
    this.#output.write(this.#format('counter', name, noTags, by))
  }

  /** Returns a promise to await between two writes, or undefined if no pause is needed. */
  pause(): Promise<void> | undefined {
    return this.#output.isFull ? this.#room() : this.#pace.step()
  }

  /** Sends the lines that wait to be sent together with others. */
  send(): void {
    this.#output.send()
  }

  async #room(): Promise<void> {
    while (this.#output.isOpen && this.#output.isFull) await this.#output.room()
  }
}
