import type { Health } from '@portcullis/service-kit/health'
import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import type { HttpListenerConfig } from '../config/listeners.ts'
import type { Decide } from '../decide/decide.ts'
import { parseRequestJson, toResponseJson } from '../protocol/json.ts'
import { createHealthCheckHandler } from '../transports/health-check.ts'
import { openHttpListener } from '../transports/http-listener.ts'
import { createJsonHandler } from '../transports/json.ts'
import { toListenError } from './listen-error.ts'

export interface HttpSurroundings {
  readonly decide: Decide
  readonly health: Pick<Health, 'isHealthy'>
  readonly lifecycle: Lifecycle
  readonly log: Log
}

/** @returns the address it listens on. */
export async function openHttp(
  { host, port, bodyLimitBytes }: HttpListenerConfig,
  { decide, health, lifecycle, log }: HttpSurroundings,
): Promise<string> {
  const listener = await openHttpListener({
    host,
    port,
    routes: {
      '/json': createJsonHandler({
        decide,
        parseRequest: parseRequestJson,
        toResponseText: toResponseJson,
        bodyLimitBytes,
        log,
      }),
      '/healthcheck': createHealthCheckHandler(health),
    },
  }).catch((error: unknown) => {
    throw toListenError(error, 'HTTP', 'HOST or PORT')
  })
  lifecycle.own('HTTP listener', listener)
  lifecycle.drain('HTTP listener', (expired) => listener.close(expired))
  log.warning(`Listening for HTTP on '${listener.address}'`)
  return listener.address
}
