import { FailureLog } from '@portcullis/service-kit/failure-log'
import type { Health } from '@portcullis/service-kit/health'
import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import type { HttpListenerConfig } from '../config/listeners.ts'
import type { Decide } from '../decide/decide.ts'
import { parseRequestJson, toResponseJson } from '../protocol/json.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { allowOrigins } from '../transports/allowed-origins.ts'
import { createHealthCheckHandler } from '../transports/health-check.ts'
import {
  createHttpService,
  type HttpService,
  openHttpListener,
} from '../transports/http-listener.ts'
import { toListenError } from './listen-error.ts'
import type { Primary } from './primary.ts'

export interface HttpSurroundings {
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
  { decide, tracing, health, lifecycle, log, primary }: HttpSurroundings,
): Promise<string> {
  // Callers decide how many of their calls fail.
  const failures = new FailureLog((line) => log.warning(line), { mostLines: 10 })
  const handleJson = tracing.traceJson({
    decide,
    parseRequest: parseRequestJson,
    toResponseText: toResponseJson,
    bodyLimitBytes,
    failures,
  })
  const routes = {
    '/json': allowOrigins(handleJson, { allowedOrigins, failures }),
    '/healthcheck': createHealthCheckHandler(health),
  }
  const own = (service: HttpService) => {
    lifecycle.own('HTTP listener', service)
    lifecycle.drain('HTTP listener', (expired) => service.close(expired))
  }
  if (primary !== undefined) {
    const onConnections = (count: number) => primary.tellConnections('http', count)
    const service = createHttpService({ routes, onConnections })
    own(service)
    primary.receive('http', (socket) => service.adopt(socket))
    return ''
  }
  const listener = await openHttpListener({ host, port, routes }).catch((error: unknown) => {
    throw toListenError(error, 'HTTP', 'HOST or PORT')
  })
  own(listener)
  log.warning(`Listening for HTTP on '${listener.address}'`)
  return listener.address
}
