import type { Log } from '@portcullis/service-kit/log/log'
import { toCountText } from '@portcullis/service-kit/text/format'
import type { RuleSnapshot } from '../../match/snapshot.ts'
import { type RuleFault, toLoadError } from '../../model/fault.ts'
import { logRules, mostFaults } from '../log-rules.ts'
import type { LoadFailure } from '../source.ts'
import type { RuleDirectory } from './rule-directory.ts'
import type { RulePlace } from './rule-place.ts'

/** Log messages about loads, in the wording of envoyproxy/ratelimit. */
export interface LoadLog {
  directory(directory: RuleDirectory): void
  rules(snapshot: RuleSnapshot, warnings: readonly RuleFault[]): Promise<void>
  success(): void
  failure(failure: LoadFailure): void
}

/**
 * Bounds the set of logged warnings, which would grow with every edit, because warnings contain line numbers.
 */
const mostRemembered = 10_000

export function createLoadLog(log: Log, place: RulePlace): LoadLog {
  const alreadyLogged = new Set<string>()

  function warnOnce(message: string): void {
    if (alreadyLogged.has(message)) return
    if (alreadyLogged.size === mostRemembered) alreadyLogged.clear()
    alreadyLogged.add(message)
    log.warning(message)
  }

  return {
    directory({ files, skipped, unreadable }) {
      for (const { name, reason } of skipped) warnOnce(`${place.toMessageName(name)}: ${reason}`)
      const leftOut = unreadable.filter(({ brokenLine }) => brokenLine === undefined)
      for (const { name, reason } of leftOut) {
        log.warning(`${place.toMessageName(name)} is skipped because it cannot be read: ${reason}`)
      }
      if (files.length === 0 && leftOut.length === unreadable.length) {
        warnOnce(
          `${place.directory} contains no *.yaml files: without rules, every request is allowed`,
        )
      }
    },

    async rules(snapshot, warnings) {
      for (const warning of warnings) warnOnce(toLoadError(warning))
      await logRules(log, snapshot)
    },

    success() {
      log.info('Successfully loaded new configuration')
    },

    failure({ message, faults }) {
      if (faults.length === 0) {
        log.error(`Error loading new configuration: ${message}`)
        return
      }
      for (const fault of faults.slice(0, mostFaults)) {
        log.error(`Error loading new configuration: ${toLoadError(fault)}`)
      }
      if (faults.length > mostFaults) {
        const more = toCountText(faults.length - mostFaults, 'more error')
        log.error(`Error loading new configuration: ${more}`)
      }
    },
  }
}
