import type { Target } from '@portcullis/bench-kit/server-process'
import type { ScriptName } from './scripts.ts'

/** One stretch of load on one server: every connection asks again as soon as it is answered. */
export interface LoadOrder {
  readonly target: Target
  readonly script: ScriptName
  readonly connections: number
  readonly seconds: number
  /** What requests show: access tokens, refresh tokens or addresses, as the script wants them. */
  readonly credentials: readonly string[]
  /** Of a listing. */
  readonly path?: string
  /** Where new addresses start to count. */
  readonly firstUnique: number
  /** Single requests beside the load, to see what it does to others. */
  readonly probe?: Probe
}

export interface Probe {
  readonly perSecond: number
  readonly accessToken: string
}

export interface LoadOutcome {
  readonly calls: number
  readonly errors: number
  /** What the first error said. */
  readonly firstError: string | undefined
  readonly seconds: number
  /** CPU time of the load generator itself. */
  readonly loadCpuSeconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Undefined where nothing was probed. */
  readonly probeP99Ms: number | undefined
  /** What the next stretch has to show. */
  readonly credentials: readonly string[]
}
