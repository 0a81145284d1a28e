import process from 'node:process'
import { openLifecycle } from '@portcullis/service-kit/lifecycle'
import { createLog } from '@portcullis/service-kit/log'
import { openLogOutput } from '@portcullis/service-kit/log-output'
import { deafProcess, runUntilStopped } from '@portcullis/service-kit/workers/run-until-stopped'
import { openApp } from '../app.ts'
import type { WorkerStart } from './messages.ts'
import { RatelimitLink } from './primary-link.ts'

/** Serves the connections that the primary hands over, until it says stop or is gone. */
export async function runWorker({ config, isSpeaker }: WorkerStart): Promise<number> {
  using output = openLogOutput({ fd: 2, format: config.log.format })
  const log = createLog({ ...config.log, write: (line) => output.write(line) })
  // The primary has waited already, for all of us.
  const settings = { ...config.lifecycle, drainDelayMs: 0, log, process: deafProcess }
  const lifecycle = openLifecycle(settings)
  const link = new RatelimitLink(process, log, { isSpeaker, onStop: lifecycle.stop })
  return await runUntilStopped({
    link,
    lifecycle,
    open: () => openApp({ config, log, lifecycle, now: Date.now, primary: link }),
    toReason: (error) =>
      link.unsaidError ?? (error instanceof Error ? error.message : String(error)),
  })
}
