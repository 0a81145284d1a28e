import { createChecks } from '../health/index.ts'
import type { ConsoleSettings } from '../settings.ts'
import { createWatchRunner, type Watch, type WatchRun } from './watch.ts'
import { type ActivityState, watchActivity } from './watch-activity.ts'
import { type DecisionsState, watchDecisions } from './watch-decisions.ts'
import { type HealthState, watchHealth } from './watch-health.ts'

/** The events of the stream. Each tells the whole state of its section: one that is missed does no harm. */
export interface OverviewSections {
  readonly health: HealthState
  readonly decisions: DecisionsState
  readonly activity: ActivityState
}

export type Listener = (section: keyof OverviewSections, state: unknown) => void

export interface Overview {
  /** Hears what is known at once, and then all that is new. @returns what ends it. */
  watch(listener: Listener): () => void
}

/** Looks at the parts while somebody wants to know, and as often for many as for one. */
export function createOverview(settings: ConsoleSettings): Overview {
  const { auth, ratelimit } = settings
  const listeners = new Set<Listener>()
  const sections: Partial<Record<keyof OverviewSections, Watch<unknown>>> = {
    health: watchHealth(createChecks(settings)),
    ...(ratelimit && { decisions: watchDecisions(ratelimit) }),
    ...(auth && { activity: watchActivity(auth) }),
  }
  const names = Object.keys(sections) as (keyof OverviewSections)[]
  const known = new Set<keyof OverviewSections>()
  const runners = names.flatMap((section) => {
    const watch = sections[section]
    if (watch === undefined) return []
    const tell = (state: unknown) => {
      known.add(section)
      for (const listener of listeners) listener(section, state)
    }
    return [createWatchRunner(watch, tell)]
  })
  let runs: readonly WatchRun[] = []

  return {
    watch(listener) {
      for (const section of known) listener(section, sections[section]?.state())
      listeners.add(listener)
      if (listeners.size === 1) runs = runners.map((start) => start())
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        for (const run of runs) run.stop()
        runs = []
      }
    },
  }
}
