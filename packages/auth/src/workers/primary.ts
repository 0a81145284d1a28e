import { once } from 'node:events'
import type { Server } from 'node:net'
import { bind } from '@portcullis/grpc-unary'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Lifecycle } from '@portcullis/service-kit/process/lifecycle'
import {
  startWorkers,
  type Workers,
  type WorkersSettings,
} from '@portcullis/service-kit/workers/primary'
import { toCompatNote } from '../config/compatibility.ts'
import type { Config } from '../config/config.ts'
import { toProcessStart } from '../create-services.ts'
import { listenOnFirst, toListenHosts } from '../http/open-listeners.ts'
import {
  checksListener,
  type FromWorker,
  listener,
  type ToWorker,
  type WorkerStart,
} from './group.ts'
import { createPrimaryReload } from './primary-reload.ts'

export interface PrimarySettings {
  readonly config: Config
  readonly version: string
  /** The URL of a running PostgreSQL with up-to-date tables. */
  readonly databaseUrl: string
  /** The connection limit of all workers together, if it is known. */
  readonly maxConnections?: number
  readonly log: Log
  /** The file descriptor of the log. */
  readonly logFd: number
  readonly lifecycle: Lifecycle
}

export interface Primary {
  /** Changes all workers to another configuration, or none. @throws {Error} if one cannot use it. */
  reload(config: Config): Promise<void>
}

/**
 * Opens the process that owns the port and handles signals, but serves no requests: it passes
 * connections to workers. No connection is accepted until all workers are ready.
 */
export async function openPrimary(settings: PrimarySettings): Promise<Primary> {
  const { config, version, databaseUrl, maxConnections, log, logFd, lifecycle } = settings
  const size = config.workers
  const startedAt = toProcessStart()
  const share = maxConnections && toShare(maxConnections, size)
  const start = { size, config, version, startedAt, databaseUrl, maxConnections: share }
  const workers = startAuthWorkers(start, { log, logFd, lifecycle })
  await workers.ready()
  const { host, port } = config.api
  const url = await workers.listen({
    listener,
    bind: (server) => listenOnFirst(toListenHosts(host), (each) => listen(server, each, port)),
    onError: ({ message }) => log.error(`A connection could not be accepted: ${message}`),
  })
  const { checks } = config.apiKeys
  if (checks) {
    await workers.listen({
      listener: checksListener,
      bind: (server) => bind(server, checks.address),
      onError: ({ message }) => log.error(`A connection could not be accepted: ${message}`),
    })
  }
  const note = toCompatNote(config.api)
  log.info(`Listening on ${url}, version ${version}, with ${size} workers, ${note}`)
  return { reload: workers.reload }
}

/**
 * Starts workers that share their request counts, so that limits apply to all of them together.
 * @param start the same for all workers except the number.
 */
export function startAuthWorkers(
  start: Omit<WorkerStart, 'number'>,
  settings: Pick<WorkersSettings<ToWorker, FromWorker>, 'log' | 'logFd' | 'lifecycle'>,
): Workers<ToWorker, FromWorker> & Primary {
  const warned = new Set<string>()
  const reloads = createPrimaryReload({ config: start.config, list: () => workers.running })
  const workers = startWorkers<ToWorker, FromWorker>({
    ...settings,
    program: new URL('./worker-main.ts', import.meta.url),
    size: start.size,
    toStart: (number): WorkerStart => ({ ...start, config: reloads.config, number }),
    onEnded: (worker) => reloads.forget(worker),
    onMessage(worker, message) {
      if (message.kind === 'admitted') {
        for (const other of workers.running) {
          if (other !== worker && other.isReady) other.send(message)
        }
      } else if (message.kind === 'prepared') {
        reloads.take(worker, message)
      } else if (!warned.has(message.topic)) {
        warned.add(message.topic)
        settings.log.warning(message.message)
      }
    },
  })
  return {
    get running() {
      return workers.running
    },
    ready: () => workers.ready(),
    listen: (listening) => workers.listen(listening),
    reload: (config) => reloads.reload(config),
  }
}

/** The connection limit of each worker. */
export function toShare(maxConnections: number, size: number): number {
  return Math.max(1, Math.floor(maxConnections / size))
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  server.listen({ host, port })
  await once(server, 'listening')
  const bound = server.address()
  const chosen = typeof bound === 'object' && bound !== null ? bound.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`
}
