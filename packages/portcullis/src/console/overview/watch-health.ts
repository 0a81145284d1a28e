import type { Checks } from '../health/index.ts'
import type { PartHealth, PartName } from '../health/part-health.ts'
import type { Watch } from './watch.ts'

export type { PartHealth, PartName }

export interface WatchedPart extends PartHealth {
  readonly part: PartName
  /** Since when it has been in this state, as far as somebody looked. */
  readonly since: number
}

export type HealthState = readonly WatchedPart[]

/** Longer without a look: whatever happened meanwhile, nobody saw it. */
const longestGapMs = 30_000

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
      const hasGap = now - lookedAt > longestGapMs
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
