import { setTimeout as sleep } from 'node:timers/promises'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { type Checks, callWithTimeout, type PartHealth, type PartName } from '../health/index.ts'
import type { RatelimitTarget } from '../settings.ts'
import { requireCounters } from '../upstream.ts'
import {
  type Counters,
  createDecisionHistory,
  type DecisionsPeriod,
  parseCounters,
  parseUptimeSeconds,
  type RangeName,
  toIncrease,
} from './decision-history.ts'

/** A section of the overview that is polled, once for all open pages. */
export interface Watch<State> {
  readonly intervalMs: number
  /** The interval while no page is open. Default: no polling then. */
  readonly idleIntervalMs?: number
  /** Returns what is known so far for the range. */
  readonly state: (range: RangeName) => State
  /** Never rejects: failures become part of the state. */
  refresh(signal: AbortSignal): Promise<void>
}

/** Limits the load on each part: polling takes at most a fifth of the time. */
const restFactor = 4

export interface WatchRun {
  stop(): void
}

/**
 * Refreshes until stopped, and reports each refresh. A refresh that is in progress when the run is stopped
 * finishes before the next run begins.
 */
export function createWatchRunner(
  watch: Watch<unknown>,
  onRefreshed: () => void,
): (intervalMs: number) => WatchRun {
  let last = Promise.resolve()
  return (intervalMs) => {
    const stopping = new AbortController()
    last = last.then(() => run(watch, intervalMs, onRefreshed, stopping.signal))
    return { stop: () => stopping.abort() }
  }
}

async function run(
  watch: Watch<unknown>,
  intervalMs: number,
  onRefreshed: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now()
    await watch.refresh(signal)
    if (signal.aborted) return
    onRefreshed()
    const costMs = performance.now() - startedAt
    const pauseMs = Math.max(intervalMs - costMs, costMs * restFactor)
    // Rejects when stopped, which the loop condition also detects.
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
  }
}

export type { PartHealth, PartName }

export interface WatchedPart extends PartHealth {
  readonly part: PartName
  /** The time since which the part has been seen in this state. */
  readonly since: number
}

export type HealthState = readonly WatchedPart[]

/** After a longer pause the state may have changed unnoticed, so `since` starts again. */
const longestHealthGapMs = 30_000

/** Checks all parts at once. */
export function watchHealth(checks: Checks): Watch<HealthState> {
  const names = Object.keys(checks) as PartName[]
  let parts: HealthState = []
  let refreshedAt = 0
  return {
    intervalMs: 5_000,
    state: () => parts,
    async refresh(signal) {
      const found = await Promise.all(
        names.map(async (part) => ({ part, health: await checks[part]?.(signal) })),
      )
      if (signal.aborted) return
      const now = Date.now()
      const hasGap = now - refreshedAt > longestHealthGapMs
      refreshedAt = now
      parts = found.flatMap(({ part, health }) => {
        if (health === undefined) return []
        const last = parts.find((each) => each.part === part)
        const isSame = last !== undefined && last.state === health.state && !hasGap
        return [{ ...health, part, since: isSame ? last.since : now }]
      })
    },
  }
}

export type { DecisionsPoint } from './decision-history.ts'

/** The decisions of the rate limit service in the chosen range. */
export interface DecisionsState extends DecisionsPeriod {
  readonly range: RangeName
  /** Why there are no newer values. */
  readonly fault?: string | undefined
  readonly startedAt?: number | undefined
}

/** Readings that are further apart are not compared, since the times of the decisions are unknown. */
const longestDecisionGapMs = 60_000

/** Reads `/stats` for as long as the console runs, and records the increases. */
export function watchDecisions({ debugUrl }: RatelimitTarget): Watch<DecisionsState> {
  const history = createDecisionHistory()
  let before: { readonly counters: Counters; readonly atMs: number } | undefined
  let fault: string | undefined
  let startedAt: number | undefined

  return {
    intervalMs: 1_000,
    idleIntervalMs: 5_000,
    state: (range) => ({ range, ...history.read(range, Date.now()), fault, startedAt }),
    async refresh(signal) {
      try {
        const { status, text } = await callWithTimeout(
          'The rate limit service',
          `${debugUrl}/stats`,
          {
            signal,
          },
        )
        if (status !== 200)
          throw new Error(`${debugUrl}/stats responded with status ${status} instead of 200`)
        requireCounters(text)
        const atMs = Date.now()
        const counters = parseCounters(text)
        const uptime = parseUptimeSeconds(text)
        startedAt = uptime === undefined ? undefined : atMs - uptime * 1000
        if (before !== undefined && atMs - before.atMs < longestDecisionGapMs) {
          history.add(before.atMs, atMs, toIncrease(before.counters, counters))
        }
        before = { counters, atMs }
        fault = undefined
      } catch (error) {
        if (signal.aborted) return
        // Otherwise the increase during an outage would appear all at once afterwards.
        before = undefined
        fault = toMessage(error)
      }
    },
  }
}
