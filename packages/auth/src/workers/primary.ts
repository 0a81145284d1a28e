import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import process from 'node:process'
import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import type { Config } from '../config/config.ts'
import { toProcessStart } from '../create-services.ts'
import { listenOnFirst, toListenHosts } from '../http/listen-hosts.ts'
import { listener } from './messages.ts'
import { openPool } from './pool.ts'

export interface PrimarySettings {
  readonly config: Config
  readonly version: string
  /** Of a PostgreSQL that runs, with its tables in place. */
  readonly databaseUrl: string
  /** What PostgreSQL allows all workers together, where we know it. */
  readonly maxConnections?: number
  readonly log: Log
  /** Where the log goes. */
  readonly logFd: number
  readonly lifecycle: Lifecycle
}

/**
 * The process that has the port and the signals, and answers nothing: connections go to workers as
 * they come in. None is accepted before all workers can serve.
 *
 * Not `node:cluster`: there a client whose connection is on its way to a worker that is killed waits
 * for ever, the port is gone with the last worker, and every worker reports that it is in use.
 */
export async function openPrimary(settings: PrimarySettings): Promise<void> {
  const { config, version, databaseUrl, maxConnections, log, logFd, lifecycle } = settings
  const size = config.workers
  const pool = openPool({
    start: {
      size,
      config,
      version,
      startedAt: toProcessStart(),
      databaseUrl,
      maxConnections: maxConnections && toShare(maxConnections, size),
    },
    logFd,
    log,
    onHopeless: lifecycle.fail,
  })
  // However this process ends, unless it is killed: then workers notice by themselves.
  process.once('exit', () => pool.kill())
  lifecycle.own('workers', pool)
  // Accepts connections and reads nothing of them, so that whoever gets them has every byte.
  const door = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    pool.serve(listener, socket)
  })
  lifecycle.drain('HTTP listener', () => void door.close())
  lifecycle.drain('workers', async (expired) => {
    expired.addEventListener('abort', () => pool.kill(), { once: true })
    await pool.stop('SIGTERM')
  })
  await pool.ready
  lifecycle.stopping.throwIfAborted()
  const { host, port } = config.api
  const url = await listenOnFirst(toListenHosts(host), (each) => listen(door, each, port))
  door.on('error', ({ message }) => log.error(`A connection could not be accepted: ${message}`))
  log.info(`Listening on ${url}, version ${version}, with ${size} workers`)
}

/** What each of several workers may have of what all may have together. */
export function toShare(maxConnections: number, size: number): number {
  return Math.max(1, Math.floor(maxConnections / size))
}

async function listen(door: Server, host: string, port: number): Promise<string> {
  door.listen({ host, port })
  await once(door, 'listening')
  const bound = door.address()
  const chosen = typeof bound === 'object' && bound !== null ? bound.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`
}
