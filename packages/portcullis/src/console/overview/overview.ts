import { createChecks } from '../health/index.ts'
import type { ConsoleSettings } from '../settings.ts'
import type { RangeName } from './decision-history.ts'
import {
  createWatchRunner,
  type DecisionsState,
  type HealthState,
  type Watch,
  type WatchRun,
  watchDecisions,
  watchHealth,
} from './watch.ts'
import { type ActivityState, watchActivity } from './watch-activity.ts'

/** The events of the stream. Each has the whole state of its section, so a missed event does no harm. */
export interface OverviewSections {
  readonly health: HealthState
  readonly decisions: DecisionsState
  readonly activity: ActivityState
}

type Listener = (section: keyof OverviewSections, state: unknown) => void

interface Overview extends Disposable {
  /** Calls the listener with the known state at once, then with every update. @returns how to stop. */
  watch(listener: Listener, range: RangeName): () => void
}

/**
 * Polls the parts while a page is open, at the same rate for any number of pages. Data that would be lost
 * otherwise is also collected while no page is open, less often.
 */
export function createOverview(settings: ConsoleSettings): Overview {
  const { auth, ratelimit } = settings
  const listeners = new Map<Listener, RangeName>()
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
    const onRefreshed = () => {
      known.add(section)
      for (const [listener, range] of listeners) listener(section, watch.state(range))
    }
    return [{ watch, start: createWatchRunner(watch, onRefreshed) }]
  })
  let runs: readonly WatchRun[] = []

  function restart(isWatched: boolean): void {
    stop()
    runs = runners.flatMap(({ watch, start }) => {
      const intervalMs = isWatched ? watch.intervalMs : watch.idleIntervalMs
      return intervalMs === undefined ? [] : [start(intervalMs)]
    })
  }
  function stop(): void {
    for (const run of runs) run.stop()
    runs = []
  }

  restart(false)
  return {
    watch(listener, range) {
      for (const section of known) listener(section, sections[section]?.state(range))
      listeners.set(listener, range)
      if (listeners.size === 1) restart(true)
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) restart(false)
      }
    },
    [Symbol.dispose]() {
      listeners.clear()
      stop()
    },
  }
}
