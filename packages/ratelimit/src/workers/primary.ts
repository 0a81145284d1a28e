import process from 'node:process'
import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import type { Pool } from '@portcullis/service-kit/workers/pool'
import { toListenError } from '../app/listen-error.ts'
import type { Config } from '../config.ts'
import { Statistics } from '../stats/registry.ts'
import { openSink } from '../stats/sinks/index.ts'
import { toExtraTags } from '../stats/tags.ts'
import { processGauges } from '../transports/debug/process-gauges.ts'
import { createDebugEndpoints, openDebugPages } from '../transports/debug.ts'
import { openHttpListener, toAddress } from '../transports/http-listener.ts'
import { AddressLimit } from './address-limit.ts'
import { toPrimaryPages } from './debug-pages.ts'
import { type Door, openDoor } from './door.ts'
import { openPool, refresh } from './pool.ts'
import { StatisticsSum } from './statistics-sum.ts'
import type { RatelimitWorker } from './worker-process.ts'

export interface PrimarySettings {
  readonly config: Config
  readonly log: Log
  readonly lifecycle: Lifecycle
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * The process that has the ports, the sinks and the signals, and decides nothing: connections go to
 * workers as they come in. Nothing is accepted before all workers can serve.
 */
export async function openPrimary(settings: PrimarySettings): Promise<void> {
  const { config, log, lifecycle, now } = settings
  const statistics = new Statistics({ maxRequestKeys: config.stats.maxDynamicKeys })
  const sum = new StatisticsSum(statistics)
  const toProcessGauges = () => sum.toProcessGauges(processGauges())
  // Opened first and so closed last: its final flush has everything.
  const sink = await openSink(config.stats, {
    statistics,
    log,
    now,
    processGauges: toProcessGauges,
    hasDomain: (domain) => sum.hasDomain(domain),
    listen: openHttpListener,
  })
  lifecycle.own('statistics sink', sink)

  const pool = openPool({ config, log, sum, onHopeless: lifecycle.fail })
  // However this process ends, unless it is killed: then workers notice by themselves.
  process.once('exit', () => pool.kill())
  lifecycle.own('workers', pool)
  lifecycle.stopping.addEventListener('abort', () => {
    if (lifecycle.stopping.reason !== 'SIGTERM') return
    // They are unhealthy from now on, and serve on.
    for (const worker of pool.workers) worker.send({ kind: 'terminating' })
  })
  statistics.refresh = () => refresh(pool.workers)
  const doors: Door[] = []
  lifecycle.drain('listeners', () => {
    for (const door of doors) door.close()
  })
  lifecycle.drain('workers', async (expired) => {
    expired.addEventListener('abort', () => pool.kill())
    await pool.stop('SIGINT')
  })
  await pool.ready
  lifecycle.stopping.throwIfAborted()

  await openDebug(settings, statistics, toProcessGauges, pool)
  doors.push(await openGrpcDoor(settings, pool))
  doors.push(await openHttpDoor(settings, pool))
}

async function openDebug(
  { config, log, lifecycle }: PrimarySettings,
  statistics: Statistics,
  toProcessGauges: typeof processGauges,
  pool: Pool<RatelimitWorker>,
): Promise<void> {
  const endpoints = createDebugEndpoints({
    // Asked for in a worker.
    ruleLines: () => [],
    statistics,
    extraTags: toExtraTags(config.stats.extraTags),
    processGauges: toProcessGauges,
    log,
  })
  const pages = toPrimaryPages(
    endpoints,
    () => pool.workers,
    (request) => debug?.release(request),
  )
  const debug = await openDebugPages({ ...config.listeners.debug, endpoints: pages, log })
  if (debug !== undefined) lifecycle.own('debug listener', debug)
}

async function openGrpcDoor(
  { config, log }: PrimarySettings,
  pool: Pool<RatelimitWorker>,
): Promise<Door> {
  const { host, port, socketPath, limits } = config.listeners.grpc
  const addresses = new AddressLimit(limits.connectionsPerAddress, () => pool.workers)
  const target = socketPath === undefined ? { host, port } : { path: socketPath }
  const variables = 'path' in target ? 'GRPC_UDS' : 'GRPC_HOST or GRPC_PORT'
  const door = await openDoor(
    target,
    (socket) => {
      if (addresses.takes(socket)) pool.serve('grpc', socket)
      else socket.destroy()
    },
    ({ message }) => log.error(`A connection for gRPC could not be accepted: ${message}`),
  ).catch((error: unknown) => {
    throw toListenError(error, 'gRPC', variables)
  })
  const { bound } = door
  log.warning(
    `Listening for gRPC on '${'path' in bound ? bound.path : toAddress(host, bound.port)}'`,
  )
  return door
}

async function openHttpDoor(
  { config, log }: PrimarySettings,
  pool: Pool<RatelimitWorker>,
): Promise<Door> {
  const { host, port } = config.listeners.http
  const door = await openDoor(
    { host, port },
    (socket) => pool.serve('http', socket),
    ({ message }) => log.error(`A connection for HTTP could not be accepted: ${message}`),
  ).catch((error: unknown) => {
    throw toListenError(error, 'HTTP', 'HOST or PORT')
  })
  const { bound } = door
  log.warning(`Listening for HTTP on '${toAddress(host, 'port' in bound ? bound.port : port)}'`)
  return door
}
