import { toMessage } from '../error-answers.ts'
import { ask } from '../health/ask.ts'
import { requireCounters } from '../require-counters.ts'
import type { RatelimitTarget } from '../settings.ts'
import { type Counters, parseCounters, parseUptimeSeconds, toIncrease } from './counters.ts'
import type { Watch } from './watch.ts'

/** Seconds that are remembered. */
export const decisionsCapacity = 180

/** The last minutes of the rate limit service, second by second, the newest last. */
export interface DecisionsState {
  readonly capacity: number
  readonly seconds: readonly (DecisionsSecond | null)[]
  /** Why there is nothing newer. */
  readonly fault?: string | undefined
  readonly startedAt?: number | undefined
}

/** How many decisions there were; null where nobody knows. */
export interface DecisionsSecond {
  readonly total: number
  readonly over: number
  /** Those of `over` that a rule in shadow mode let pass. */
  readonly shadow: number
}

/** Reads `/stats` and remembers what changed. */
export function watchDecisions({ debugUrl }: RatelimitTarget): Watch<DecisionsState> {
  const seconds: (DecisionsSecond | null)[] = []
  let before: { readonly counters: Counters; readonly at: number } | undefined
  let lastAt: number | undefined
  let fault: string | undefined
  let startedAt: number | undefined

  /** Evenly over the time since the last look, so that the chart's steps are seconds. */
  function remember(value: DecisionsSecond | null, now: number): void {
    const passed = lastAt === undefined ? 0 : Math.max(1, Math.round((now - lastAt) / 1000))
    for (let i = 0; i < Math.min(passed, decisionsCapacity); i += 1) seconds.push(value)
    seconds.splice(0, seconds.length - decisionsCapacity)
    lastAt = now
  }

  return {
    intervalMs: 1_000,
    state: () => ({ capacity: decisionsCapacity, seconds: [...seconds], fault, startedAt }),
    async look(signal) {
      try {
        const { status, text } = await ask('The rate limit service', `${debugUrl}/stats`, {
          signal,
        })
        if (status !== 200) throw new Error(`${debugUrl}/stats answers ${status} instead of 200`)
        requireCounters(text)
        const now = performance.now()
        const counters = parseCounters(text)
        const uptime = parseUptimeSeconds(text)
        startedAt = uptime === undefined ? undefined : Date.now() - uptime * 1000
        remember(before ? toSecond(before, counters, now) : null, now)
        before = { counters, at: now }
        fault = undefined
      } catch (error) {
        if (signal.aborted) return
        remember(null, performance.now())
        // What happens while it is away would all seem to happen when it is back.
        before = undefined
        fault = toMessage(error)
      }
    },
  }
}

function toSecond(
  before: { readonly counters: Counters; readonly at: number },
  counters: Counters,
  now: number,
): DecisionsSecond {
  const { hits, over, shadow } = toIncrease(before.counters, counters)
  const perSecond = 1000 / Math.max(1, now - before.at)
  return { total: hits * perSecond, over: over * perSecond, shadow: shadow * perSecond }
}
