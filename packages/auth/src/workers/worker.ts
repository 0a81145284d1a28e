import type { Socket } from 'node:net'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLifecycle } from '@portcullis/service-kit/lifecycle'
import { createLog } from '@portcullis/service-kit/log'
import { openLogOutput } from '@portcullis/service-kit/log-output'
import { letYoungSpaceGrow } from '@portcullis/service-kit/young-space'
import { openApp } from '../app.ts'
import { toReason } from '../commands/reason.ts'
import type { ToWorker, WorkerStart } from './messages.ts'
import { PrimaryLink } from './primary-link.ts'

/** How long requests in progress may take when the primary is gone and nobody waits for us. */
const orphanMs = 1_000

/** Answers on the connections that the primary hands over, until it says stop or is gone. */
export async function runWorker(start: WorkerStart): Promise<number> {
  const { config, version, databaseUrl, maxConnections } = start
  // Standard error, or the log file: the primary has opened it.
  using output = openLogOutput({ fd: 2, format: 'logrus' })
  const write = (line: string) => output.write(line)
  const log = createLog({ level: config.observability.logLevel, format: 'logrus', write })
  const { drainTimeoutMs } = config.api
  const lifecycle = openLifecycle({ log, process: deaf, drainDelayMs: 0, drainTimeoutMs })
  const link = new PrimaryLink(process, start, lifecycle.stop)
  process.on('message', (message: ToWorker, socket: Socket | undefined) => {
    link.take(message, socket)
  })
  process.once('disconnect', () => {
    lifecycle.stop('SIGINT')
    void sleep(orphanMs).then(() => process.exit(1))
  })
  try {
    await openApp({
      config,
      version,
      databaseUrl,
      ...(maxConnections !== undefined && { maxConnections }),
      log,
      lifecycle,
      now: Date.now,
      group: link,
    })
    letYoungSpaceGrow()
    await link.send({ kind: 'ready' })
  } catch (error) {
    if (!lifecycle.stopping.aborted) {
      await link.send({ kind: 'failed', reason: toReason(error) })
      return 1
    }
  }
  return await lifecycle.ended
}

/** Signals are the primary's: who stops the whole group means it, not each of us. */
const deaf = { on: () => {}, off: () => {}, exit: (code: number) => process.exit(code) }
