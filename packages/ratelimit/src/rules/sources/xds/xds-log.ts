import type { Log } from '@portcullis/service-kit/log/log'
import { toCountText } from '@portcullis/service-kit/text/format'
import type { RuleSnapshot } from '../../match/snapshot.ts'
import { logRules, mostFaults } from '../log-rules.ts'
import type { ResourceFault } from './parse-resources.ts'

/** Log messages about the management server, in the wording of envoyproxy/ratelimit. */
export interface XdsLog {
  connected(): void
  /** A repeated reason is logged once, until the server has answered. */
  lost(reason: string): void
  answered(): void
  rules(snapshot: RuleSnapshot, warnings: readonly ResourceFault[]): Promise<void>
  loaded(): void
  refused(message: string, faults: readonly ResourceFault[]): void
}

export function createXdsLog(log: Log, serverUrl: string): XdsLog {
  let lastReason: string | undefined
  return {
    connected() {
      log.info(`Connection to xDS Management Server ${serverUrl} is successful`)
    },

    lost(reason) {
      const message = `Failed to receive configuration from xDS Management Server: ${reason}`
      if (reason === lastReason) log.debug(message)
      else log.error(message)
      lastReason = reason
    },

    answered() {
      lastReason = undefined
    },

    async rules(snapshot, warnings) {
      for (const warning of warnings.slice(0, mostFaults)) log.warning(toText(warning))
      await logRules(log, snapshot)
    },

    loaded() {
      log.info('Successfully loaded new configuration')
    },

    refused(message, faults) {
      const texts = faults.length === 0 ? [message] : faults.slice(0, mostFaults).map(toText)
      for (const text of texts) log.error(`Error loading new configuration: ${text}`)
      if (faults.length > mostFaults) {
        const more = toCountText(faults.length - mostFaults, 'more error')
        log.error(`Error loading new configuration: ${more}`)
      }
    },
  }
}

function toText({ place, message, path }: ResourceFault): string {
  return `${place.file}: ${message}${path === '' ? '' : ` (at ${path})`}`
}
