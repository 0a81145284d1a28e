import type { Socket } from 'node:net'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lifecycle } from '../lifecycle.ts'
import type { Message, ToWorker } from './messages.ts'
import type { PrimaryLink } from './primary-link.ts'

export interface RunSettings<To extends Message, From extends Message> {
  readonly link: PrimaryLink<To, From>
  readonly lifecycle: Lifecycle
  /** Resolves when the worker can serve. */
  readonly open: () => Promise<unknown>
  /** Why it could not be opened, in words for people. */
  readonly toReason: (error: unknown) => string
}

/** How long requests in progress may take when the primary is gone and nobody waits for us. */
const orphanMs = 1_000

/** Serves the connections that the primary hands over, until it says stop or is gone. */
export async function runUntilStopped<To extends Message, From extends Message>(
  settings: RunSettings<To, From>,
): Promise<number> {
  const { link, lifecycle, open, toReason } = settings
  process.on('message', (message: ToWorker | To, socket: Socket | undefined) => {
    link.take(message, socket)
  })
  process.once('disconnect', () => {
    lifecycle.stop('SIGINT')
    void sleep(orphanMs).then(() => process.exit(1))
  })
  try {
    await open()
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
export const deafProcess = {
  on: () => {},
  off: () => {},
  exit: (code: number) => process.exit(code),
}
