import type { Socket } from 'node:net'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog, type EventLog, type LogSettings } from '../log/log.ts'
import { openLogOutput } from '../log/log-output.ts'
import { type Lifecycle, openLifecycle } from '../process/lifecycle.ts'
import type { Message, ToWorker } from './messages.ts'
import type { PrimaryLink } from './primary-link.ts'

export interface ServeSettings<Link> {
  readonly log: Pick<LogSettings, 'level' | 'format'>
  readonly drainTimeoutMs: number
  readonly openLink: (log: EventLog, onStop: Lifecycle['stop']) => Link
  /** Resolves when the worker is ready. */
  readonly open: (parts: WorkerParts<Link>) => Promise<unknown>
  /** A readable reason why it could not be opened. */
  readonly toReason: (error: unknown, link: Link) => string
}

export interface WorkerParts<Link> {
  readonly log: EventLog
  readonly lifecycle: Lifecycle
  readonly link: Link
}

/** How long requests in progress may take after the primary has ended. */
const orphanMs = 1_000

/**
 * Serves the connections that the primary hands over, until it is stopped or the primary has ended.
 * @returns the exit code.
 */
export async function serveUntilStopped<Link extends PrimaryLink<Message, Message>>(
  settings: ServeSettings<Link>,
): Promise<number> {
  const { drainTimeoutMs, open, openLink, toReason } = settings
  // Standard error or the log file, which the primary has opened.
  using output = openLogOutput({ fd: 2, format: settings.log.format })
  const log = createLog({ ...settings.log, write: (line) => output.write(line) })
  // No delay: the primary has already waited for all workers.
  const lifecycle = openLifecycle({
    log,
    process: processWithoutSignals,
    drainDelayMs: 0,
    drainTimeoutMs,
  })
  const link = openLink(log, lifecycle.stop)
  process.on('message', (message: ToWorker | Message, socket: Socket | undefined) => {
    link.take(message, socket)
  })
  process.once('disconnect', () => {
    lifecycle.stop('SIGINT')
    void sleep(orphanMs).then(() => process.exit(1))
  })
  try {
    await open({ log, lifecycle, link })
    await link.send({ kind: 'ready' })
  } catch (error) {
    if (!lifecycle.stopping.aborted) {
      await link.send({ kind: 'failed', reason: toReason(error, link) })
      return 1
    }
  }
  return await lifecycle.ended
}

/** Ignores signals: they are for the primary, which stops the workers. */
const processWithoutSignals = {
  on: () => {},
  off: () => {},
  exit: (code: number) => process.exit(code),
}
