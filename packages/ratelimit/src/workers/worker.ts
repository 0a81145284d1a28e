import type { Socket } from 'node:net'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLifecycle } from '@portcullis/service-kit/lifecycle'
import { createLog } from '@portcullis/service-kit/log'
import { openLogOutput } from '@portcullis/service-kit/log-output'
import { openApp } from '../app.ts'
import type { ToWorker } from './messages.ts'
import { PrimaryLink } from './primary-link.ts'

type Start = Extract<ToWorker, { readonly kind: 'start' }>

/** How long calls in progress may take when the primary is gone and nobody waits for us. */
const orphanMs = 1_000

/** Serves the connections that the primary hands over, until it says stop or is gone. */
export async function runWorker({ config, isSpeaker }: Start): Promise<number> {
  using output = openLogOutput({ fd: 2, format: config.log.format })
  const log = createLog({ ...config.log, write: (line) => output.write(line) })
  // The primary has waited already, for all of us.
  const settings = { ...config.lifecycle, drainDelayMs: 0, log, process: deaf }
  const lifecycle = openLifecycle(settings)
  const link = new PrimaryLink(process, log, { isSpeaker, onStop: lifecycle.stop })
  process.on('message', (message: ToWorker, socket: Socket | undefined) => {
    link.take(message, socket)
  })
  process.once('disconnect', () => {
    lifecycle.stop('SIGINT')
    void sleep(orphanMs).then(() => process.exit(1))
  })
  try {
    await openApp({ config, log, lifecycle, now: Date.now, primary: link })
    await link.send({ kind: 'ready' })
  } catch (error) {
    if (!lifecycle.stopping.aborted) {
      const reason = link.unsaidError ?? (error instanceof Error ? error.message : String(error))
      await link.send({ kind: 'failed', reason })
      return 1
    }
  }
  return await lifecycle.ended
}

/** Signals are the primary's: who stops the whole group means it, not each of us. */
const deaf = { on: () => {}, off: () => {}, exit: (code: number) => process.exit(code) }
