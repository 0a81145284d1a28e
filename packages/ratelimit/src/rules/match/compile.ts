import { setImmediate as nextTurn } from 'node:timers/promises'
import { packRules } from '../../hot/index.ts'
import type { RuleCountersByKey } from '../../stats/instruments.ts'
import type { RuleSet } from '../model/rule.ts'
import type { IgnoredOverride } from './override.ts'
import { RuleSnapshot, type SnapshotParts } from './snapshot.ts'

/** In one go, for sets that are small or that nobody waits for. */
export function compileRules(
  set: RuleSet,
  counters: RuleCountersByKey,
  onIgnoredOverride: IgnoredOverride = () => {},
): RuleSnapshot {
  const snapshot = new RuleSnapshot({ rules: packRules(set), counters, onIgnoredOverride })
  snapshot.openCounters(0, snapshot.ruleCount)
  return snapshot
}

/** Less than a millisecond of work. */
const rulesPerTurn = 500

/** The same for rules that another thread has packed, while decisions go on. */
export async function compileInTurns(
  parts: SnapshotParts,
  signal: AbortSignal,
): Promise<RuleSnapshot> {
  const snapshot = new RuleSnapshot(parts)
  for (let from = 0; from < snapshot.ruleCount; from += rulesPerTurn) {
    await nextTurn(undefined, { signal })
    snapshot.openCounters(from, from + rulesPerTurn)
  }
  return snapshot
}
