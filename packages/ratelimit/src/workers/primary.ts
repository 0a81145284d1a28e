import { type Address, bind } from '@portcullis/grpc-unary'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Lifecycle } from '@portcullis/service-kit/process/lifecycle'
import { startWorkers, type Workers } from '@portcullis/service-kit/workers/primary'
import { type ListenTarget, listenFor, type Protocol } from '../app/listen.ts'
import type { ListenerName } from '../app/primary.ts'
import type { Config } from '../config/config.ts'
import { toExtraTags } from '../stats/extra-tags.ts'
import { Statistics } from '../stats/registry.ts'
import { openSink } from '../stats/sinks/index.ts'
import {
  createDebugEndpoints,
  type DebugContents,
  openDebugPages,
} from '../transports/debug/debug.ts'
import { processGauges } from '../transports/debug/process-gauges.ts'
import { toPrimaryPages } from './debug-pages.ts'
import { WorkerKeys } from './key-questions.ts'
import type { FromWorker, ToWorker, WorkerStart } from './messages.ts'
import { StatisticsCollector } from './statistics-collector.ts'
import { StatisticsSum } from './statistics-sum.ts'

export interface PrimarySettings {
  readonly config: Config
  readonly log: Log
  readonly lifecycle: Lifecycle
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type RatelimitWorkers = Workers<ToWorker, FromWorker>

/** Workers report several times a second, even without changes. */
const silentMs = 5_000

/**
 * Opens the process that owns the ports and the sinks and handles signals, but makes no decisions: it hands
 * connections over to workers. It accepts none before all workers are ready.
 */
export async function openPrimary(settings: PrimarySettings): Promise<void> {
  const { config, log, lifecycle, now } = settings
  const statistics = new Statistics({ maxRequestKeys: config.stats.maxDynamicKeys })
  const sum = new StatisticsSum(statistics)
  const toProcessGauges = () => sum.toProcessGauges(processGauges())
  // The sink is opened first and therefore closed last, so that its final flush includes everything.
  const sink = await openSink(config.stats, {
    statistics,
    log,
    now,
    processGauges: toProcessGauges,
    hasDomain: (domain) => sum.hasDomain(domain),
  })
  lifecycle.own('statistics sink', sink)

  const collector = new StatisticsCollector(sum)
  const keys = new WorkerKeys(() => workers.running)
  const workers: RatelimitWorkers = startWorkers<ToWorker, FromWorker>({
    program: new URL('./worker-main.ts', import.meta.url),
    size: config.workers,
    logFd: 2,
    silentMs,
    toStart: (number): WorkerStart => ({ config, isLead: collector.startsAsLead(number) }),
    onMessage: (worker, message) => {
      if (message.kind === 'keys') keys.take(message)
      else collector.take(worker, message)
    },
    onEnded: (worker) => {
      collector.close(worker)
      keys.close(worker)
    },
    onLost: (worker) => collector.replaceLead(worker, workers.running),
    log,
    lifecycle,
  })
  lifecycle.stopping.addEventListener('abort', () => {
    if (lifecycle.stopping.reason !== 'SIGTERM') return
    // The workers report themselves as unhealthy from now on, and keep serving.
    for (const worker of workers.running) worker.send({ kind: 'terminating' })
  })
  statistics.refresh = () => collector.refresh(workers.running)
  await workers.ready()

  await openDebug(settings, { statistics, processGauges: toProcessGauges, keys }, workers)
  const { grpc, http } = config.listeners
  await listen(settings, workers, {
    ...grpc,
    listener: 'grpc',
    protocol: 'gRPC',
    connectionsPerAddress: grpc.limits.connectionsPerAddress,
  })
  await listen(settings, workers, {
    ...http,
    listener: 'http',
    protocol: 'HTTP',
  })
}

async function openDebug(
  { config, log, lifecycle }: PrimarySettings,
  contents: Pick<DebugContents, 'statistics' | 'processGauges' | 'keys'>,
  workers: RatelimitWorkers,
): Promise<void> {
  const endpoints = createDebugEndpoints({
    // Workers handle these pages.
    ruleLines: () => [],
    decisionLines: config.listeners.debug.recordedDecisions === 0 ? undefined : () => [],
    ...contents,
    extraTags: toExtraTags(config.stats.extraTags),
    settings: config.effective,
    log,
  })
  const pages = toPrimaryPages(
    endpoints,
    () => workers.running,
    (request) => debug?.release(request),
  )
  const debug = await openDebugPages({ ...config.listeners.debug, endpoints: pages, log })
  if (debug !== undefined) lifecycle.own('debug listener', debug)
}

interface Listening extends ListenTarget {
  readonly listener: ListenerName
  readonly protocol: Protocol
  readonly connectionsPerAddress?: number
}

async function listen(
  { log }: PrimarySettings,
  workers: RatelimitWorkers,
  { listener, protocol, connectionsPerAddress = 0, ...target }: Listening,
): Promise<void> {
  const open = (address: Address) =>
    workers.listen({
      listener,
      bind: (server) => bind(server, address),
      connectionsPerAddress,
      onError: ({ message }) =>
        log.error(`A connection for ${protocol} could not be accepted: ${message}`),
    })
  await listenFor(protocol, target, open, log)
}
