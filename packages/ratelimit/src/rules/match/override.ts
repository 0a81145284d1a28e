import type { Entry, LimitOverride } from '../../protocol/message.ts'
import { toOverridePath } from '../../stats/statistics-key.ts'
import { type Limit, unitByWire } from '../model/rule.ts'

/** Told of every limit that a caller sent and that makes no sense; the configured rule is used. */
export type IgnoredOverride = (domain: string, override: LimitOverride) => void

const replacesNothing: readonly string[] = []

/** Undefined where the unit is none we know: envoyproxy/ratelimit crashes there. */
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

/** Warns of the first one only: a caller that sends one sends many. */
export function createOverrideWarning(warn: (message: string) => void): IgnoredOverride {
  let hasWarned = false
  return (domain, override) => {
    if (hasWarned) return
    hasWarned = true
    warn(
      `A request to domain '${domain}' carried a limit with the unknown unit ${override.unit}; ` +
        'such limits are ignored and the configured rules used (said once)',
    )
  }
}
