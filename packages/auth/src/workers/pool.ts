import { Pool, type PoolSettings } from '@portcullis/service-kit/workers/pool'
import type { WorkerStart } from './messages.ts'
import { AuthWorker } from './worker-process.ts'

export interface AuthPoolSettings extends Pick<PoolSettings<AuthWorker>, 'log' | 'onHopeless'> {
  /** The same for all but their number. */
  readonly start: Omit<WorkerStart, 'number'>
  /** Where the workers write their log. */
  readonly logFd: number
}

/** Workers that know of each other's requests, so that limits hold for all of them together. */
export function openPool({ start, logFd, ...settings }: AuthPoolSettings): Pool<AuthWorker> {
  const warned = new Set<string>()
  const pool = new Pool<AuthWorker>({
    ...settings,
    size: start.size,
    start: (number, events) => {
      const worker = new AuthWorker({ ...start, number }, logFd, {
        ...events,
        onAdmitted: (counts) => {
          for (const other of pool.workers) {
            if (other !== worker && other.isReady) other.send({ kind: 'admitted', counts })
          }
        },
        onWarning: (topic, message) => {
          if (warned.has(topic)) return
          warned.add(topic)
          settings.log.warning(message)
        },
      })
      return worker
    },
  })
  return pool
}
