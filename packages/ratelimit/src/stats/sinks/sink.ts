import type { Log } from '@portcullis/service-kit/log'
import type { Statistics } from '../registry.ts'
import type { MetricsListener } from './prometheus/listener.ts'

/** Where statistics go. Disposing sends what is still unsent, then closes. */
export interface Sink extends AsyncDisposable {
  /** Where it listens, if it does. */
  readonly address?: string
  /** Sends what has changed, now. Resolves when it is written, or cannot be. */
  flush(): Promise<void>
}

/** What all sinks have in common. */
export interface SinkSettings {
  readonly flushIntervalMs: number
  /** On all statistics. */
  readonly extraTags: ReadonlyMap<string, string>
}

/** What a sink is given to work with. */
export interface SinkSurroundings {
  readonly statistics: Statistics
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** What the process takes of its machine, beside the gauges of the statistics. */
  readonly processGauges: () => Iterable<readonly [name: string, value: number]>
  /** Whether the rules name a domain: only they know whether its name has dots. */
  readonly hasDomain: (domain: string) => boolean
  /** Opens the listener that Prometheus fetches from. */
  readonly listen: MetricsListener
}
