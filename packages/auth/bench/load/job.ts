import type { Target } from '@portcullis/bench-kit/server-process'
import type { ScriptName } from './scripts.ts'

/**
 * One phase of load on one server; every connection sends the next request after each response.
 */
export interface LoadJob {
  readonly target: Target
  readonly script: ScriptName
  readonly connections: number
  readonly seconds: number
  /** The access tokens, refresh tokens or addresses that the script needs. */
  readonly credentials: readonly string[]
  /** The path and query of a listing. */
  readonly path?: string
  /** The number of the first new address. */
  readonly firstUnique: number
  /** Single requests beside the load, to measure how much they are delayed. */
  readonly probe?: Probe
}

export interface Probe {
  readonly perSecond: number
  readonly accessToken: string
}

export interface LoadOutcome {
  readonly calls: number
  readonly errors: number
  /** The message of the first error. */
  readonly firstError: string | undefined
  readonly seconds: number
  /** CPU time of the load generator. */
  readonly loadCpuSeconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Undefined without probes. */
  readonly probeP99Ms: number | undefined
  /** The credentials for the next phase. */
  readonly credentials: readonly string[]
}
