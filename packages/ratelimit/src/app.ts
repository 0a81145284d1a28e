import { createHealth, type Health } from '@portcullis/service-kit/health'
import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { Log } from '@portcullis/service-kit/log'
import { openDecide } from './app/open-decide.ts'
import { openGrpc } from './app/open-grpc.ts'
import { openHttp } from './app/open-http.ts'
import { openRules } from './app/open-rules.ts'
import { openStore } from './app/open-store.ts'
import type { Config } from './config.ts'
import { Statistics } from './stats/registry.ts'
import { openSink } from './stats/sinks/index.ts'
import { processGauges } from './transports/debug/process-gauges.ts'
import { openDebugListener } from './transports/debug.ts'
import { openHttpListener } from './transports/http-listener.ts'

export interface AppSettings {
  readonly config: Config
  readonly log: Log
  /** Owns what the service opens, and drains and closes it in the end. */
  readonly lifecycle: Lifecycle
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Where the service listens. */
export interface App {
  readonly grpcAddress: string
  readonly httpAddress: string
  /** Undefined where its port was taken. */
  readonly debugAddress: string | undefined
}

export type ServiceHealth = Health<'store' | 'configuration' | 'termination'>

/**
 * Builds everything and knows everything. No port opens before the store answered and the first
 * load of the rules was tried: who reaches the service gets decisions.
 */
export async function openApp({ config, log, lifecycle, now }: AppSettings): Promise<App> {
  if (config.tracing !== undefined) {
    log.warning('TRACING_ENABLED has no effect: this version sends no traces yet')
  }
  const statistics = new Statistics({ maxRequestKeys: config.stats.maxDynamicKeys })
  // Opened first and so closed last: its final flush has everything.
  let hasDomain = (_domain: string): boolean => false
  const sink = await openSink(config.stats, {
    statistics,
    log,
    now,
    processGauges,
    hasDomain: (domain) => hasDomain(domain),
    listen: openHttpListener,
  })
  lifecycle.own('statistics sink', sink)
  const health: ServiceHealth = createHealth({
    store: { isEnabled: true, isHealthy: true },
    configuration: { isEnabled: config.lifecycle.healthNeedsRules, isHealthy: false },
    termination: { isEnabled: true, isHealthy: true },
  })
  lifecycle.stopping.addEventListener('abort', () => {
    if (lifecycle.stopping.reason === 'SIGTERM') health.set('termination', false)
  })

  const rules = lifecycle.own('rules', await openRules(config.rules, { log, statistics, health }))
  hasDomain = (domain) => rules.current?.hasDomain(domain) ?? false
  const { store, ready } = openStore(config.store, {
    log,
    statistics,
    expirationJitterMaxSeconds: config.decisions.expirationJitterMaxSeconds,
    onHealth: (isHealthy) => health.set('store', isHealthy),
  })
  lifecycle.own('store', store)
  await ready
  if (!config.lifecycle.startWithoutRules) await rules.firstAttempt
  // Who stops a service that waits for its rules wants no ports of it.
  lifecycle.stopping.throwIfAborted()

  // memcached counts after the answer: there is nothing to look at before.
  const stopsIncrementWhenOver =
    config.decisions.stopsIncrementWhenOver && config.store.kind !== 'memcached'
  const decisions = { ...config.decisions, stopsIncrementWhenOver }
  const decider = openDecide(decisions, {
    rules: () => rules.current,
    store,
    statistics,
    now,
  })
  const debug = await openDebugListener({
    ...config.listeners.debug,
    ruleLines: () => rules.current?.describe() ?? [],
    statistics: () => statistics.lines(),
    log,
  })
  if (debug !== undefined) lifecycle.own('debug listener', debug)
  const grpc = await openGrpc(config.listeners.grpc, {
    decide: decider.decideEncoded,
    health,
    statistics,
    lifecycle,
    log,
  })
  const http = await openHttp(config.listeners.http, {
    decide: decider.decide,
    health,
    lifecycle,
    log,
  })
  return { grpcAddress: grpc, httpAddress: http, debugAddress: debug?.address }
}
