import type { Log, LogLevel } from '@portcullis/service-kit/log/log'
import { createHealth, type Health } from '@portcullis/service-kit/process/health'
import type { Lifecycle } from '@portcullis/service-kit/process/lifecycle'
import type { Config } from '../config/config.ts'
import { openStore } from '../counters/plugins.ts'
import type { RuleSnapshot } from '../rules/match/snapshot.ts'
import { toExtraTags } from '../stats/extra-tags.ts'
import { Statistics } from '../stats/registry.ts'
import { TopKeys } from '../stats/top/top-keys.ts'
import {
  boundDecider,
  createDecisionParts,
  decisionCalls,
  openDecide,
  openRecord,
} from './decisions.ts'
import { createKeyAccess } from './key-access.ts'
import { openDebug, openGrpc, openHttp } from './listeners.ts'
import { openRules } from './open-rules.ts'
import type { Primary } from './primary.ts'
import { openStatisticsOutput, openTracing } from './telemetry.ts'
import { warmUp } from './warm-up.ts'

export interface AppSettings {
  readonly config: Config
  readonly log: Log
  /** Owns the resources that the service opens; drains and closes them at shutdown. */
  readonly lifecycle: Lifecycle
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Set in a worker: the process that owns the ports and receives the statistics. */
  readonly primary?: Primary
}

/** The addresses that the service listens on. They are empty in a worker, which does not listen. */
export interface App {
  readonly grpcAddress: string
  readonly httpAddress: string
  /** Undefined in a worker, and if its port was in use. */
  readonly debugAddress: string | undefined
}

export type ServiceHealth = Health<'store' | 'configuration' | 'termination'>

/** Log levels at which each request is logged. */
const verboseLevels: ReadonlySet<LogLevel> = new Set(['debug', 'trace'])

/**
 * The composition root. No port opens before the store has answered and the first load of the rules
 * was tried, so that a client that can connect gets decisions.
 */
export async function openApp(settings: AppSettings): Promise<App> {
  const { config, log, lifecycle, now, primary } = settings
  const statistics = new Statistics({ maxRequestKeys: config.stats.maxDynamicKeys })
  // The output is opened first and therefore closed last, so that its final flush includes everything.
  let current = (): RuleSnapshot | undefined => undefined
  const statisticsOutput = await openStatisticsOutput(config.stats, {
    statistics,
    rules: () => current(),
    log,
    now,
    primary,
  })
  lifecycle.own('statistics sink', statisticsOutput)
  // Workers share the collector, the rules and the store, so only one worker logs their failures.
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
  // Do not open ports if the service was stopped while waiting for its first rules.
  lifecycle.stopping.throwIfAborted()

  const stopsIncrementWhenOver =
    config.decisions.stopsIncrementWhenOver && storeTraits.countsBeforeAnswer
  const decisions = { ...config.decisions, stopsIncrementWhenOver }
  const { topKeysSize } = config.stats
  const topKeys = topKeysSize === 0 ? undefined : new TopKeys(topKeysSize, now())
  const decisionParts = createDecisionParts(decisions, {
    rules: () => rules.current,
    store: tracing.traceStore(store, storeTraits.span),
    statistics,
    traffic: topKeys,
    now,
  })
  const debugLog = verboseLevels.has(config.log.level) ? log : undefined
  const traced = tracing.traceDecider(await openDecide(decisionParts, debugLog))
  const serviceErrors = statistics.counter(`${decisionCalls}.service_error`)
  const record = await openRecord(config.listeners.debug.recordedDecisions)
  const recorded = record?.recordDecider(traced, now) ?? traced
  const decider = boundDecider(recorded, decisions, serviceErrors)
  // Warm up before any listener opens: the first calls must not exceed the timeouts of clients.
  if (config.lifecycle.warmsUp)
    await warmUp({
      decisions,
      store: storeTraits.warmsUp ? store : undefined,
      now,
    })
  const storeKind = config.store.kind
  const keys = createKeyAccess({ decision: decisionParts, topKeys, storeKind })
  primary?.serveKeys(keys)
  const debugAddress = await openDebug(config.listeners.debug, {
    contents: {
      ruleLines: () => rules.current?.describe() ?? [],
      decisionLines: record?.lines,
      statistics,
      extraTags: toExtraTags(config.stats.extraTags),
      settings: config.effective,
      // In a worker the primary has these pages, and asks for their content.
      ...(primary === undefined && { keys }),
      log,
    },
    lifecycle,
    primary,
  })
  const grpc = await openGrpc(config.listeners.grpc, {
    decide: decider.decideEncoded,
    bounds: decisions,
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
  // Tracing is flushed after the listeners have drained, when every call has ended its spans.
  lifecycle.drain('tracing', (expired) => tracing.flush(expired))
  return { grpcAddress: grpc, httpAddress: http, debugAddress }
}
