import process from 'node:process'
import { letYoungSpaceGrow } from '@portcullis/service-kit/process/young-space'
import { serveUntilStopped } from '@portcullis/service-kit/workers/worker'
import { openApp } from '../app.ts'
import { explainFailure } from '../explain-failure.ts'
import { AuthLink, type WorkerStart } from './group.ts'

/** Serves the connections that the primary hands over, until the primary stops it or ends. */
export async function runWorker(start: WorkerStart): Promise<number> {
  const { config, version, startedAt, databaseUrl, maxConnections } = start
  return await serveUntilStopped({
    log: { level: config.observability.logLevel, format: 'logrus' },
    drainTimeoutMs: config.api.drainTimeoutMs,
    // A worker that cannot use the configuration of the others ends, and is replaced.
    openLink: (log, onStop) =>
      new AuthLink(process, start, onStop, ({ message }) => {
        log.error(message)
        onStop('SIGINT')
      }),
    async open({ log, lifecycle, link }) {
      const { prepare } = await openApp({
        config,
        version,
        startedAt,
        databaseUrl,
        ...(maxConnections !== undefined && { maxConnections }),
        log,
        lifecycle,
        group: link,
      })
      link.reload.attach(prepare)
      letYoungSpaceGrow()
    },
    toReason: (error) => explainFailure(error),
  })
}
