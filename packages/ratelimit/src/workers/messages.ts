import type { Config } from '../config/config.ts'
import type { TopOrder } from '../stats/top/top-list.ts'
import type { CounterState, CounterTarget, TopKeys } from '../transports/debug/key-access.ts'

/** The start parameters of a worker. */
export interface WorkerStart {
  readonly config: Config
  /** Whether it is the lead worker, which logs and reports what all workers have in common. */
  readonly isLead: boolean
}

/** Messages from the primary to a worker, in addition to the general ones. */
export type ToWorker =
  /** Requests all new statistics; the worker then sends `reported`. */
  | { readonly kind: 'report'; readonly id: number }
  /** The worker is the lead worker from now on. */
  | { readonly kind: 'lead' }
  /** The drain delay has begun. */
  | { readonly kind: 'terminating' }
  /** A page about keys needs data; the worker then sends `keys`. */
  | { readonly kind: 'keys'; readonly id: number; readonly question: KeyQuestion }

/** A call of `KeyAccess`. */
export type KeyQuestion =
  | { readonly method: 'top'; readonly argument: TopOrder }
  | { readonly method: 'inspect' | 'reset'; readonly argument: CounterTarget }

/** What the call returned, or the error that it threw. */
export interface KeyAnswer {
  readonly kind: 'keys'
  readonly id: number
  readonly result?: TopKeys | CounterState
  readonly error?: { readonly status: number; readonly message: string }
}

/** Messages from a worker to the primary, in addition to the general ones. */
export type FromWorker = ReportMessage | KeyAnswer

export type ReportMessage = { readonly kind: 'reported'; readonly id: number } | StatisticsMessage

export type NamedNumber = readonly [name: string, value: number]

/** The growth of a timer, and its longest duration so far. */
export interface TimerGrowth {
  readonly name: string
  readonly count: number
  readonly sumMs: number
  readonly maxMs: number
}

/** A part of the changes since the last report. The columns of rules are in the order of `ruleStatistics`. */
export type StatisticsMessage =
  | {
      readonly kind: 'singles'
      readonly counters: readonly NamedNumber[]
      readonly timers: readonly TimerGrowth[]
      /** The current values of all gauges. */
      readonly gauges: readonly NamedNumber[]
      readonly processGauges: readonly NamedNumber[]
    }
  | { readonly kind: 'durations'; readonly name: string; readonly valuesMs: Float64Array }
  | { readonly kind: 'domains'; readonly names: readonly string[] }
  | {
      readonly kind: 'rules'
      /** New rules, which are numbered in this order after the known ones. */
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
