import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log/log'
import type { RuleSnapshot } from '../match/snapshot.ts'

/** The maximum number of logged errors; the first one matters most. */
export const mostFaults = 20

/** The number of lines that are written in one turn of the event loop. */
const linesPerTurn = 200

/** Writes a debug line for each rule, without blocking the event loop for long. */
export async function logRules(log: Log, snapshot: RuleSnapshot): Promise<void> {
  if (!log.isEnabled('debug')) return
  let lines = 0
  for (const line of snapshot.describeLoad()) {
    log.debug(line)
    lines += 1
    if (lines % linesPerTurn === 0) await nextTurn()
  }
}
