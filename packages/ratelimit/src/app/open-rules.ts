import type { Log } from '@portcullis/service-kit/log/log'
import type { Health } from '@portcullis/service-kit/process/health'
import type { RulesConfig } from '../config/rules.ts'
import type { RuleSnapshot } from '../rules/match/snapshot.ts'
import { openRuleSource } from '../rules/sources/index.ts'
import type { Statistics } from '../stats/registry.ts'

export interface RulesContext {
  readonly log: Log
  readonly statistics: Statistics
  readonly health: Pick<Health, 'set'>
}

export interface OpenRules extends AsyncDisposable {
  /** The rules in force; undefined until rules are loaded. They are replaced in one assignment. */
  readonly current: RuleSnapshot | undefined
  readonly firstAttempt: Promise<void>
}

export async function openRules(
  { source, mergesDomains }: RulesConfig,
  { log, statistics, health }: RulesContext,
): Promise<OpenRules> {
  const successes = statistics.counter('ratelimit.service.config_load_success')
  const errors = statistics.counter('ratelimit.service.config_load_error')
  let current: RuleSnapshot | undefined

  const parts = {
    log,
    statistics,
    counters: statistics.rules,
    mergeDomains: mergesDomains,
    onSnapshot(snapshot: RuleSnapshot) {
      current = snapshot
      successes.value += 1
      health.set('configuration', snapshot.domainCount > 0)
    },
    onFailure() {
      errors.value += 1
    },
  }
  const opened = await openRuleSource(source, parts)
  return {
    get current() {
      return current
    },
    firstAttempt: opened.firstAttempt,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}
