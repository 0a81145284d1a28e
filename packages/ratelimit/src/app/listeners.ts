import {
  createGrpcServer,
  type Method,
  type Methods,
  type UnaryHandler,
} from '@portcullis/grpc-unary'
import { FailureLog } from '@portcullis/service-kit/log/failure-log'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Health } from '@portcullis/service-kit/process/health'
import type { Lifecycle } from '@portcullis/service-kit/process/lifecycle'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type {
  GrpcListenerConfig,
  HttpListenerConfig,
  ListenersConfig,
} from '../config/listeners.ts'
import type { Decide, DecideEncoded } from '../decide/decide.ts'
import { parseRequestJson, toResponseJson } from '../protocol/json.ts'
import type { RequestBounds } from '../protocol/request-bounds.ts'
import type { Statistics } from '../stats/registry.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { allowOrigins } from '../transports/allowed-origins.ts'
import {
  createDebugService,
  type DebugContents,
  openDebugListener,
} from '../transports/debug/debug.ts'
import { createRateLimitMethods, rateLimitService } from '../transports/grpc.ts'
import {
  createHealthCheckHandler,
  createHealthMethods,
  healthService,
} from '../transports/health.ts'
import {
  createHttpService,
  type HttpService,
  openHttpListener,
} from '../transports/http-listener.ts'
import { trackStreams } from '../transports/open-streams.ts'
import { RequestBodies } from '../transports/request-bodies.ts'
import { loadGrpcTls } from './grpc-tls.ts'
import { listenFor } from './listen.ts'
import type { Primary } from './primary.ts'

interface GrpcContext {
  readonly decide: DecideEncoded
  readonly bounds: RequestBounds
  readonly tracing: Pick<Tracing, 'traceMethods'>
  readonly health: Health
  readonly statistics: Statistics
  readonly lifecycle: Lifecycle
  readonly log: Log
  readonly primary: Primary | undefined
}

/** Log lines per second about clients refused in the TLS handshake, and about handlers that threw. */
const mostFailureLines = 10

/** @returns the address it listens on; empty in a worker. */
export async function openGrpc(
  config: GrpcListenerConfig,
  { decide, bounds, tracing, health, statistics, lifecycle, log, primary }: GrpcContext,
): Promise<string> {
  const streams = trackStreams({
    ...withStatistics(createHealthMethods(health), statistics),
    ...(config.hasReflection ? await loadReflection() : {}),
  })
  // Workers watch the same files, so only one of them logs changes.
  const tlsLog = primary?.toSharedLog(log) ?? log
  const tls = config.tls && (await loadGrpcTls(config.tls, tlsLog))
  // Clients could flood the log with refused connections.
  const failures = new FailureLog((line) => log.error(line), {
    mostLines: mostFailureLines,
  })
  const server = createGrpcServer({
    methods: {
      ...tracing.traceMethods(
        createRateLimitMethods(decide, bounds, toCallStatistics(statistics, 'ShouldRateLimit')),
      ),
      ...streams.methods,
    },
    ...(tls && { tls: tls.options }),
    limits: config.limits,
    maxConnectionAgeMs: config.maxConnectionAgeMs || Number.POSITIVE_INFINITY,
    maxConnectionAgeGraceMs: config.maxConnectionAgeGraceMs || Number.POSITIVE_INFINITY,
    report: (error) => failures.report(() => toMessage(error)),
    ...(primary && { onConnections: (count) => primary.reportConnections('grpc', count) }),
    ...(primary && { onAddress: (address, count) => primary.reportAddress(address, count) }),
  })
  if (tls) lifecycle.own('TLS files', tls.follow(server.renewTls))
  lifecycle.own('gRPC listener', server)
  lifecycle.drain('gRPC listener', () => {
    const drained = server.drain()
    streams.end()
    return drained
  })
  if (primary !== undefined) {
    primary.receive('grpc', (socket) => server.adopt(socket))
    return ''
  }
  return await listenFor('gRPC', config, (address) => server.listen(address), log)
}

function toCallStatistics(statistics: Statistics, method: string) {
  return {
    totalRequests: statistics.counter(`ratelimit_server.${method}.total_requests`),
    responseTime: statistics.timer(`ratelimit_server.${method}.response_time`),
  }
}

/** Counts and times the calls of methods that respond synchronously. */
function withStatistics(methods: Methods, statistics: Statistics): Methods {
  const entries = Object.entries(methods).map(([path, method]): [string, Method] => {
    if (method.kind !== 'unary') return [path, method]
    const name = path.slice(path.lastIndexOf('/') + 1)
    const { totalRequests, responseTime } = toCallStatistics(statistics, name)
    const handle: UnaryHandler = (call) => {
      const startMs = performance.now()
      totalRequests.value += 1
      const returned = method.handle(call)
      responseTime.observe(performance.now() - startMs)
      return returned
    }
    return [path, { ...method, handle }]
  })
  return Object.fromEntries(entries)
}

/** Reflection is loaded on demand because it needs the whole protobuf library. */
async function loadReflection(): Promise<Methods> {
  const { createReflectionMethods, reflectionServices } = await import(
    '../transports/reflection.ts'
  )
  const { toFileDescriptors } = await import('../protocol/file-descriptors.ts')
  return createReflectionMethods({
    services: [rateLimitService, healthService, ...reflectionServices],
    files: toFileDescriptors(),
  })
}

interface HttpContext {
  readonly decide: Decide
  readonly tracing: Pick<Tracing, 'traceJson'>
  readonly health: Pick<Health, 'isHealthy'>
  readonly lifecycle: Lifecycle
  readonly log: Log
  readonly primary: Primary | undefined
}

/** @returns the address it listens on; empty in a worker. */
export async function openHttp(
  { host, port, bodyLimitBytes, allowedOrigins }: HttpListenerConfig,
  { decide, tracing, health, lifecycle, log, primary }: HttpContext,
): Promise<string> {
  // Clients could flood the log with failing calls.
  const failures = new FailureLog((line) => log.warning(line), { mostLines: 10 })
  const handleJson = tracing.traceJson({
    decide,
    parseRequest: parseRequestJson,
    toResponseText: toResponseJson,
    bodies: new RequestBodies({ bytes: bodyLimitBytes }),
    failures,
  })
  const routes = {
    '/json': allowOrigins(handleJson, { allowedOrigins, failures }),
    '/healthcheck': createHealthCheckHandler(health),
  }
  const manage = (service: HttpService) => {
    lifecycle.own('HTTP listener', service)
    lifecycle.drain('HTTP listener', (expired) => service.close(expired))
  }
  if (primary !== undefined) {
    const onConnections = (count: number) => primary.reportConnections('http', count)
    const service = createHttpService({ routes, onConnections })
    manage(service)
    primary.receive('http', (socket) => service.adopt(socket))
    return ''
  }
  const bind = async () => {
    const listener = await openHttpListener({ host, port, routes })
    manage(listener)
    return { host, port: listener.port }
  }
  return await listenFor('HTTP', { host, port }, bind, log)
}

interface DebugContext {
  readonly contents: DebugContents
  readonly lifecycle: Lifecycle
  readonly primary: Primary | undefined
}

/** @returns the address it listens on; undefined if its port was in use, and in a worker */
export async function openDebug(
  config: ListenersConfig['debug'],
  { contents, lifecycle, primary }: DebugContext,
): Promise<string | undefined> {
  if (primary !== undefined) {
    const service = lifecycle.own('debug pages', createDebugService(contents))
    primary.receive('debug', (socket) => service.adopt(socket))
    return undefined
  }
  const listener = await openDebugListener({ ...config, ...contents })
  if (listener !== undefined) lifecycle.own('debug listener', listener)
  return listener?.address
}
