import type { Counter } from '@portcullis/service-kit/metrics/instruments'
import type { Statistics } from './registry.ts'
import type { RuleCounters } from './rule-counters.ts'

/** Counters that are forgotten together, by statistics key or by domain. */
export type DroppedBatch =
  | { readonly kind: 'rules'; readonly counters: ReadonlyMap<string, RuleCounters> }
  | { readonly kind: 'domains'; readonly counters: ReadonlyMap<string, Counter> }

export interface DroppedSettings {
  /** Those who add to forgotten counters last are done by then. */
  readonly delayMs: number
  /** How many counters may wait for a sink that is lost; the oldest go first. */
  readonly most: number
  /** Called when there is something to take. */
  readonly ready: () => void
}

/** The counters that the statistics forget, until a sink has read them a last time. */
export class DroppedCounters implements Disposable {
  readonly #statistics: Statistics
  readonly #settings: DroppedSettings
  readonly #batches: DroppedBatch[] = []
  #size = 0
  #delay: NodeJS.Timeout | undefined

  constructor(statistics: Statistics, settings: DroppedSettings) {
    this.#statistics = statistics
    this.#settings = settings
    // A decision drops counters, so no more happens here than to keep them.
    statistics.dropped = (counters) => this.#add({ kind: 'rules', counters })
    statistics.droppedDomains = (counters) => this.#add({ kind: 'domains', counters })
  }

  take(): DroppedBatch | undefined {
    const batch = this.#batches.shift()
    if (batch !== undefined) this.#size -= batch.counters.size
    return batch
  }

  /** Gives back a batch that could not be sent to its end. */
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
