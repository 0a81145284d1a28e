import process from 'node:process'
import { openLifecycle } from '@portcullis/service-kit/lifecycle'
import { createLog } from '@portcullis/service-kit/log'
import { openLogOutput } from '@portcullis/service-kit/log-output'
import { deafProcess, runUntilStopped } from '@portcullis/service-kit/workers/run-until-stopped'
import { letYoungSpaceGrow } from '@portcullis/service-kit/young-space'
import { openApp } from '../app.ts'
import { toReason } from '../commands/reason.ts'
import type { WorkerStart } from './messages.ts'
import { AuthLink } from './primary-link.ts'

/** Answers on the connections that the primary hands over, until it says stop or is gone. */
export async function runWorker(start: WorkerStart): Promise<number> {
  const { config, version, startedAt, databaseUrl, maxConnections } = start
  // Standard error, or the log file: the primary has opened it.
  using output = openLogOutput({ fd: 2, format: 'logrus' })
  const write = (line: string) => output.write(line)
  const log = createLog({ level: config.observability.logLevel, format: 'logrus', write })
  const { drainTimeoutMs } = config.api
  const lifecycle = openLifecycle({ log, process: deafProcess, drainDelayMs: 0, drainTimeoutMs })
  const link = new AuthLink(process, start, lifecycle.stop)
  return await runUntilStopped({
    link,
    lifecycle,
    async open() {
      await openApp({
        config,
        version,
        startedAt,
        databaseUrl,
        ...(maxConnections !== undefined && { maxConnections }),
        log,
        lifecycle,
        group: link,
      })
      letYoungSpaceGrow()
    },
    toReason,
  })
}
