import { setTimeout as sleep } from 'node:timers/promises'
import { toMessage } from '../errors.ts'
import type { Checks, PartHealth, PartName } from '../health/index.ts'
import { ask } from '../health/index.ts'
import type { RatelimitTarget } from '../settings.ts'
import { requireCounters } from '../upstream.ts'
import type { RangeName } from './decision-history.ts'
import {
  type Counters,
  createDecisionHistory,
  type DecisionsPeriod,
  parseCounters,
  parseUptimeSeconds,
  toIncrease,
} from './decision-history.ts'

/** Something that is looked at again and again, once for all who want to know. */
export interface Watch<State> {
  readonly intervalMs: number
  /** How often to look while no page is open. Without it, nothing is looked at then. */
  readonly idleIntervalMs?: number
  /** What is known so far, as far back as the range goes. */
  readonly state: (range: RangeName) => State
  /** Never rejects: what goes wrong is part of the state. */
  look(signal: AbortSignal): Promise<void>
}

/** No part is kept busy by our questions for more than a fifth of the time. */
const restFactor = 4

export interface WatchRun {
  stop(): void
}

/**
 * Looks until stopped, and reports each look. A look that is under way when it is stopped has ended
 * before the next run begins.
 */
export function createWatchRunner(
  watch: Watch<unknown>,
  onLooked: () => void,
): (intervalMs: number) => WatchRun {
  let last = Promise.resolve()
  return (intervalMs) => {
    const stopping = new AbortController()
    last = last.then(() => run(watch, intervalMs, onLooked, stopping.signal))
    return { stop: () => stopping.abort() }
  }
}

async function run(
  watch: Watch<unknown>,
  intervalMs: number,
  onLooked: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now()
    await watch.look(signal)
    if (signal.aborted) return
    onLooked()
    const costMs = performance.now() - startedAt
    const pauseMs = Math.max(intervalMs - costMs, costMs * restFactor)
    // Rejects when it is stopped, which the condition of the loop sees too.
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
  }
}

export type { PartHealth, PartName }

export interface WatchedPart extends PartHealth {
  readonly part: PartName
  /** Since when it has been in this state, as far as somebody looked. */
  readonly since: number
}

export type HealthState = readonly WatchedPart[]

/** Longer without a look: whatever happened meanwhile, nobody saw it. */
const longestHealthGapMs = 30_000

/** Asks all parts at once, each as they were last seen. */
export function watchHealth(checks: Checks): Watch<HealthState> {
  const names = Object.keys(checks) as PartName[]
  let parts: HealthState = []
  let lookedAt = 0
  return {
    intervalMs: 5_000,
    state: () => parts,
    async look(signal) {
      const found = await Promise.all(
        names.map(async (part) => ({ part, health: await checks[part]?.(signal) })),
      )
      if (signal.aborted) return
      const now = Date.now()
      const hasGap = now - lookedAt > longestHealthGapMs
      lookedAt = now
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

/** What the rate limit service decided in the chosen range. */
export interface DecisionsState extends DecisionsPeriod {
  readonly range: RangeName
  /** Why there is nothing newer. */
  readonly fault?: string | undefined
  readonly startedAt?: number | undefined
}

/** Two readings further apart are not connected: what happened in between, and when, is not known. */
const longestDecisionGapMs = 60_000

/** Reads `/stats` as long as the console runs, and keeps what changed. */
export function watchDecisions({ debugUrl }: RatelimitTarget): Watch<DecisionsState> {
  const history = createDecisionHistory()
  let before: { readonly counters: Counters; readonly atMs: number } | undefined
  let fault: string | undefined
  let startedAt: number | undefined

  return {
    intervalMs: 1_000,
    idleIntervalMs: 5_000,
    state: (range) => ({ range, ...history.read(range, Date.now()), fault, startedAt }),
    async look(signal) {
      try {
        const { status, text } = await ask('The rate limit service', `${debugUrl}/stats`, {
          signal,
        })
        if (status !== 200) throw new Error(`${debugUrl}/stats answers ${status} instead of 200`)
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
        // The increase during an outage would otherwise appear all at once when the service is back.
        before = undefined
        fault = toMessage(error)
      }
    },
  }
}
