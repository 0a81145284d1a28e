import type { Config } from '../config/config.ts'

/** All that a worker has to know. */
export interface WorkerStart {
  readonly config: Config
  /** Whether it speaks for all workers, in what they have in common. */
  readonly isLead: boolean
}

/** What the primary sends a worker, besides what every primary does. */
export type ToWorker =
  /** Asks for all that is new in the statistics; `reported` follows it. */
  | { readonly kind: 'report'; readonly id: number }
  /** The worker is the lead worker from now on. */
  | { readonly kind: 'lead' }
  /** The drain delay has begun. */
  | { readonly kind: 'terminating' }

/** What a worker sends the primary, besides what every worker does. */
export type FromWorker = { readonly kind: 'reported'; readonly id: number } | StatisticsMessage

export type NamedNumber = readonly [name: string, value: number]

/** What a timer has grown by, and the longest duration ever. */
export interface TimerGrowth {
  readonly name: string
  readonly count: number
  readonly sumMs: number
  readonly maxMs: number
}

/** A part of what has changed since the last report. Rows of rules are in the order of `ruleStatistics`. */
export type StatisticsMessage =
  | {
      readonly kind: 'singles'
      readonly counters: readonly NamedNumber[]
      readonly timers: readonly TimerGrowth[]
      /** As they are now, all of them. */
      readonly gauges: readonly NamedNumber[]
      readonly processGauges: readonly NamedNumber[]
    }
  | { readonly kind: 'durations'; readonly name: string; readonly valuesMs: Float64Array }
  | { readonly kind: 'domains'; readonly names: readonly string[] }
  | {
      readonly kind: 'rules'
      /** Rules that were not known; they are numbered in this order, after those known already. */
      readonly added: readonly string[]
      readonly numbers: Uint32Array
      /** A row for each of `numbers`. */
      readonly growth: Float64Array
    }
  | {
      readonly kind: 'requests'
      readonly keys: readonly string[]
      /** A row for each key. */
      readonly growth: Float64Array
    }
  | { readonly kind: 'unknown domains'; readonly counters: readonly NamedNumber[] }
