import process from 'node:process'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { serveUntilStopped } from '@portcullis/service-kit/workers/worker'
import { openApp } from '../app/app.ts'
import { RatelimitLink } from './link.ts'
import type { WorkerStart } from './messages.ts'

/** Serves the connections that the primary hands over, until the primary stops it or exits. */
export async function runWorker({ config, isLead }: WorkerStart): Promise<number> {
  return await serveUntilStopped({
    log: config.log,
    drainTimeoutMs: config.lifecycle.drainTimeoutMs,
    openLink: (log, onStop) => new RatelimitLink(process, log, { isLead, onStop }),
    open: ({ log, lifecycle, link }) =>
      openApp({ config, log, lifecycle, now: Date.now, primary: link }),
    toReason: (error, link) => link.unloggedError ?? toMessage(error),
  })
}
