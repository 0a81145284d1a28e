import { createHealth, type Health } from '@portcullis/service-kit/health'
import type { Lifecycle } from '@portcullis/service-kit/lifecycle'
import type { Log, LogLevel } from '@portcullis/service-kit/log'
import type { Config } from '../config/config.ts'
import { openStore } from '../counters/plugins.ts'
import type { RuleSnapshot } from '../rules/match/snapshot.ts'
import { Statistics } from '../stats/registry.ts'
import { toExtraTags } from '../stats/tags.ts'
import { boundDecider, decisionCalls, openDecide } from './decisions.ts'
import { openDebug, openGrpc, openHttp } from './listeners.ts'
import { openRules } from './open-rules.ts'
import type { Primary } from './primary.ts'
import { openOutlet, openTracing } from './telemetry.ts'
import { warmUp } from './warm-up.ts'

export interface AppSettings {
  readonly config: Config
  readonly log: Log
  /** Owns what the service opens, and drains and closes it in the end. */
  readonly lifecycle: Lifecycle
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** In a worker: the process that has the ports and gets the statistics. */
  readonly primary?: Primary
}

/** Where the service listens. In a worker that is nowhere: the addresses are empty. */
export interface App {
  readonly grpcAddress: string
  readonly httpAddress: string
  /** Undefined where its port was taken, too. */
  readonly debugAddress: string | undefined
}

export type ServiceHealth = Health<'store' | 'configuration' | 'termination'>

/** Every request is told of. */
const talkativeLevels: ReadonlySet<LogLevel> = new Set(['debug', 'trace'])

/**
 * Builds everything and knows everything. No port opens before the store answered and the first
 * load of the rules was tried: who reaches the service gets decisions.
 */
export async function openApp(settings: AppSettings): Promise<App> {
  const { config, log, lifecycle, now, primary } = settings
  const statistics = new Statistics({ maxRequestKeys: config.stats.maxDynamicKeys })
  // Opened first and so closed last: its final flush has everything.
  let current = (): RuleSnapshot | undefined => undefined
  const outlet = await openOutlet(config.stats, {
    statistics,
    rules: () => current(),
    log,
    now,
    primary,
  })
  lifecycle.own('statistics sink', outlet)
  // Workers have the same collector, rules and store: what is wrong with them one worker tells.
  const sharedLog = primary?.toSharedLog(log) ?? log
  const tracing = lifecycle.own('tracing', await openTracing(config.tracing, sharedLog))
  const health: ServiceHealth = createHealth({
    store: { isEnabled: true, isHealthy: true },
    configuration: { isEnabled: config.lifecycle.healthNeedsRules, isHealthy: false },
    termination: { isEnabled: true, isHealthy: true },
  })
  const terminate = () => health.set('termination', false)
  primary?.onTerminating(terminate)
  lifecycle.stopping.addEventListener('abort', () => {
    if (lifecycle.stopping.reason === 'SIGTERM') terminate()
  })

  const rules = lifecycle.own(
    'rules',
    await openRules(config.rules, { log: sharedLog, statistics, health }),
  )
  current = () => rules.current
  let isReady = false
  const { store, ready, ...storeTraits } = await openStore(config.store, {
    log: primary?.toSharedLog(log, () => isReady) ?? log,
    statistics,
    expirationJitterMaxSeconds: config.decisions.expirationJitterMaxSeconds,
    isCompatible: config.decisions.keyFormat === 'compatible',
    onHealth: (isHealthy) => health.set('store', isHealthy),
  })
  lifecycle.own('store', store)
  await ready
  isReady = true
  if (!config.lifecycle.startWithoutRules) await rules.firstAttempt
  // Who stops a service that waits for its rules wants no ports of it.
  lifecycle.stopping.throwIfAborted()

  const stopsIncrementWhenOver =
    config.decisions.stopsIncrementWhenOver && storeTraits.countsBeforeAnswer
  const decisions = { ...config.decisions, stopsIncrementWhenOver }
  const traced = tracing.traceDecider(
    await openDecide(decisions, {
      rules: () => rules.current,
      store: tracing.traceStore(store, storeTraits.span),
      statistics,
      now,
      debugLog: talkativeLevels.has(config.log.level) ? log : undefined,
    }),
  )
  const serviceErrors = statistics.counter(`${decisionCalls}.service_error`)
  const decider = boundDecider(traced, decisions, serviceErrors)
  // Before any listener: the first calls after a start must not take longer than callers wait.
  if (config.lifecycle.warmsUp)
    await warmUp({
      decisions,
      store: storeTraits.warmsUp ? store : undefined,
      now,
    })
  const debugAddress = await openDebug(config.listeners.debug, {
    contents: {
      ruleLines: () => rules.current?.describe() ?? [],
      statistics,
      extraTags: toExtraTags(config.stats.extraTags),
      log,
    },
    lifecycle,
    primary,
  })
  const grpc = await openGrpc(config.listeners.grpc, {
    decide: decider.decideEncoded,
    tracing,
    health,
    statistics,
    lifecycle,
    log,
    primary,
  })
  const http = await openHttp(config.listeners.http, {
    decide: decider.decide,
    tracing,
    health,
    lifecycle,
    log,
    primary,
  })
  // After the listeners: then every call has made its spans.
  lifecycle.drain('tracing', (expired) => tracing.flush(expired))
  return { grpcAddress: grpc, httpAddress: http, debugAddress }
}
