import type { Counter } from '@portcullis/service-kit/metrics/instruments'
import type { Statistics } from './registry.ts'
import type { RuleCounters } from './rule-counters.ts'

/** Counters that are dropped together, by statistics key or by domain. */
export type DroppedBatch =
  | { readonly kind: 'rules'; readonly counters: ReadonlyMap<string, RuleCounters> }
  | { readonly kind: 'domains'; readonly counters: ReadonlyMap<string, Counter> }

export interface DroppedSettings {
  /** How long to wait before the counters are read: decisions in progress may still add to them. */
  readonly delayMs: number
  /** The maximum number of counters that wait while the sink is unavailable; the oldest are discarded first. */
  readonly most: number
  /** Called when there are batches to take. */
  readonly ready: () => void
}

/** Keeps the counters that the statistics have dropped until a sink has read them for the last time. */
export class DroppedCounters implements Disposable {
  readonly #statistics: Statistics
  readonly #settings: DroppedSettings
  readonly #batches: DroppedBatch[] = []
  #size = 0
  #delay: NodeJS.Timeout | undefined

  constructor(statistics: Statistics, settings: DroppedSettings) {
    this.#statistics = statistics
    this.#settings = settings
    // Counters are dropped during a decision, so they are only stored here and processed later.
    statistics.dropped = (counters) => this.#add({ kind: 'rules', counters })
    statistics.droppedDomains = (counters) => this.#add({ kind: 'domains', counters })
  }

  take(): DroppedBatch | undefined {
    const batch = this.#batches.shift()
    if (batch !== undefined) this.#size -= batch.counters.size
    return batch
  }

  /** Puts back a batch that could not be sent completely. */
  restore(batch: DroppedBatch): void {
    this.#batches.unshift(batch)
    this.#size += batch.counters.size
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#delay)
    this.#statistics.dropped = undefined
    this.#statistics.droppedDomains = undefined
  }

  #add(batch: DroppedBatch): void {
    this.#batches.push(batch)
    this.#size += batch.counters.size
    while (this.#size > this.#settings.most && this.#batches.length > 1) this.take()
    this.#delay ??= setTimeout(() => {
      this.#delay = undefined
      this.#settings.ready()
    }, this.#settings.delayMs).unref()
  }
}
