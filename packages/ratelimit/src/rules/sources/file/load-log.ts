import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log'
import type { RuleSnapshot } from '../../match/snapshot.ts'
import { type RuleFault, toLoadError } from '../../model/fault.ts'
import type { LoadFailure } from '../source.ts'
import type { RuleDirectory } from './rule-directory.ts'
import type { RulePlace } from './rule-place.ts'

/** What people are told about loads, in the words that operators of envoyproxy/ratelimit know. */
export interface LoadLog {
  directory(directory: RuleDirectory): void
  rules(snapshot: RuleSnapshot, warnings: readonly RuleFault[]): Promise<void>
  success(): void
  failure(failure: LoadFailure): void
}

/** Nobody reads more of them, and the first is the one to mend. */
const mostFaults = 20

/** Warnings name lines, so files that are edited for years bring new ones for ever. */
const mostRemembered = 10_000

/** So many lines are written in one turn of the event loop. */
const linesPerTurn = 200

export function createLoadLog(log: Log, place: RulePlace): LoadLog {
  const alreadySaid = new Set<string>()

  function warnOnce(message: string): void {
    if (alreadySaid.has(message)) return
    if (alreadySaid.size === mostRemembered) alreadySaid.clear()
    alreadySaid.add(message)
    log.warning(message)
  }

  return {
    directory({ files, skipped, unreadable }) {
      for (const { name, reason } of skipped) warnOnce(`${place.toMessageName(name)}: ${reason}`)
      const leftOut = unreadable.filter(({ brokenLine }) => brokenLine === undefined)
      for (const { name, reason } of leftOut) {
        log.warning(`${place.toMessageName(name)} is left out, it cannot be read: ${reason}`)
      }
      if (files.length === 0 && leftOut.length === unreadable.length) {
        warnOnce(`There is no *.yaml file in ${place.directory}: without rules every call is OK`)
      }
    },

    async rules(snapshot, warnings) {
      for (const warning of warnings) warnOnce(toLoadError(warning))
      if (!log.isEnabled('debug')) return
      let lines = 0
      for (const line of snapshot.describeLoad()) {
        log.debug(line)
        lines += 1
        if (lines % linesPerTurn === 0) await nextTurn()
      }
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
        log.error(`Error loading new configuration: ${faults.length - mostFaults} more faults`)
      }
    },
  }
}
