import type { Entry, LimitOverride } from '../../protocol/message.ts'
import { toOverridePath } from '../../stats/statistics-key.ts'
import { type Limit, unitByWire } from '../model/rule.ts'

/** Called for every invalid limit in a request; the configured rule is used instead. */
export type IgnoredOverride = (domain: string, override: LimitOverride) => void

const replacesNothing: readonly string[] = []

/** Returns undefined for an unknown unit, on which envoyproxy/ratelimit crashes. */
export function toOverrideLimit(
  domain: string,
  entries: readonly Entry[],
  override: LimitOverride,
): Limit | undefined {
  const unit = unitByWire(override.unit)
  if (unit === undefined) return undefined
  return {
    requestsPerUnit: override.requestsPerUnit,
    unit,
    windowSeconds: unit.seconds,
    algorithm: 'fixed_window',
    unlimited: false,
    name: '',
    replaces: replacesNothing,
    shadowMode: false,
    quotaMode: false,
    metadata: undefined,
    path: toOverridePath(domain, entries),
  }
}

/** Warns only about the first one, because a client that sends one sends many. */
export function createOverrideWarning(warn: (message: string) => void): IgnoredOverride {
  let hasWarned = false
  return (domain, override) => {
    if (hasWarned) return
    hasWarned = true
    warn(
      `A request to domain '${domain}' carried a limit with the unknown unit ${override.unit}; ` +
        'such limits are ignored and the configured rules apply (logged once)',
    )
  }
}
