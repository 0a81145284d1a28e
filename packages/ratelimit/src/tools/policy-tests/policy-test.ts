import type { RateLimitRequest } from '../../engine.ts'
import type { Place } from '../../rules/index.ts'

/** One test of a `*.test.yaml` file: steps in simulated time, with counters of its own. */
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
  /** How often it is sent, all at the same time. */
  readonly times: number
  /** Empty: the request only counts. */
  readonly wanted: readonly Wanted[]
}

export interface ClockStep {
  readonly kind: 'clock'
  readonly nowMs: number
}

/** One thing that is expected of an answer. */
export interface Wanted {
  /** A name in `expected-fields.ts`. */
  readonly field: string
  /** The index of a descriptor; undefined where the whole answer is meant. */
  readonly descriptor: number | undefined
  /** The expected value, in the one form that answers are turned into as well. */
  readonly text: string
  readonly place: Place
}
