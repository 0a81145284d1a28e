import type { RateLimitRequest } from '../../engine.ts'
import type { Place } from '../../rules/index.ts'

/** One test of a `*.test.yaml` file: steps in simulated time, with separate counters. */
export interface PolicyTest {
  readonly name: string
  readonly place: Place
  /** Milliseconds since the epoch. */
  readonly startMs: number
  readonly steps: readonly Step[]
}

export type Step = RequestStep | ClockStep

export interface RequestStep {
  readonly kind: 'request'
  readonly request: RateLimitRequest
  /** The number of times it is sent, all at the same simulated time. */
  readonly times: number
  /** Empty if the request is only counted. */
  readonly wanted: readonly Expected[]
}

export interface ClockStep {
  readonly kind: 'clock'
  readonly nowMs: number
}

/** One expectation about a response. */
export interface Expected {
  /** A name in `expected-fields.ts`. */
  readonly field: string
  /** The index of a descriptor; undefined for the whole response. */
  readonly descriptor: number | undefined
  /** The expected value, in the same format as actual values. */
  readonly text: string
  readonly place: Place
}
