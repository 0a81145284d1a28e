import { toMessage } from '../error-answers.ts'
import { ask } from '../health/ask.ts'
import { requireCounters } from '../require-counters.ts'
import type { RatelimitTarget } from '../settings.ts'
import { type Counters, parseCounters, parseUptimeSeconds, toIncrease } from './counters.ts'
import { createDecisionHistory, type DecisionsPeriod } from './decision-history.ts'
import type { RangeName } from './ranges.ts'
import type { Watch } from './watch.ts'

export type { DecisionsPoint } from './decision-history.ts'

/** What the rate limit service decided in the chosen range. */
export interface DecisionsState extends DecisionsPeriod {
  readonly range: RangeName
  /** Why there is nothing newer. */
  readonly fault?: string | undefined
  readonly startedAt?: number | undefined
}

/** Two readings further apart are not connected: what happened in between, and when, is not known. */
const longestGapMs = 60_000

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
        if (before !== undefined && atMs - before.atMs < longestGapMs) {
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
