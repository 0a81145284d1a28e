import type { Log } from '@portcullis/service-kit/log/log'
import type { Counter } from '@portcullis/service-kit/metrics/instruments'
import type { DecisionsConfig } from '../config/decisions.ts'
import type { CounterStore } from '../counters/counter-store.ts'
import type { Decider } from '../decide/decide.ts'
import {
  type DecisionParts,
  ExcessError,
  type Rules,
  type TrafficSample,
} from '../decide/decision.ts'
import { createDecider } from '../engine.ts'
import { createLocalCache, type LocalCache } from '../hot/index.ts'
import { findEncodedExcess, findExcess, type RequestBounds } from '../protocol/request-bounds.ts'
import type { Statistics } from '../stats/registry.ts'

interface PartsContext {
  readonly rules: () => Rules | undefined
  readonly store: CounterStore
  readonly statistics: Statistics
  /** Undefined if `/top` is disabled. */
  readonly traffic?: TrafficSample | undefined
  readonly now: () => number
}

/** The prefix of the statistics about decisions. */
export const decisionCalls = 'ratelimit.service.call.should_rate_limit'

export function createDecisionParts(
  config: DecisionsConfig,
  { rules, store, statistics, traffic, now }: PartsContext,
): DecisionParts {
  return {
    settings: config,
    rules,
    store,
    localCache: openLocalCache(config, statistics, now),
    statistics: {
      storeErrors: statistics.counter(`${decisionCalls}.redis_error`),
      serviceErrors: statistics.counter(`${decisionCalls}.service_error`),
      globalShadowMode: statistics.counter('ratelimit.service.global_shadow_mode'),
      unknownDomain: (domain) => statistics.unknownDomain(domain),
    },
    traffic,
    now,
  }
}

/** @param debugLog - set when every request is to be logged */
export async function openDecide(parts: DecisionParts, debugLog?: Log): Promise<Decider> {
  const decider = createDecider(parts)
  if (debugLog === undefined) return decider
  const { logDecider } = await import('./logged-decider.ts')
  return logDecider(decider, { rules: parts.rules, log: debugLog })
}

interface OpenedRecord {
  recordDecider(decider: Decider, now: () => number): Decider
  readonly lines: () => Iterable<string>
}

/** Returns undefined if no decisions are recorded, so that they are as fast as without this feature. */
export async function openRecord(most: number): Promise<OpenedRecord | undefined> {
  if (most === 0) return undefined
  const { DecisionRecord, recordDecider } = await import('./recorded-decisions.ts')
  const record = new DecisionRecord(most)
  return {
    recordDecider: (decider, now) => recordDecider(decider, record, now),
    lines: () => record.lines(),
  }
}

const localCacheGauges = [
  'evacuateCount',
  'expiredCount',
  'entryCount',
  'averageAccessTime',
  'hitCount',
  'missCount',
  'lookupCount',
  'overwriteCount',
] as const satisfies readonly (keyof LocalCache)[]

function openLocalCache(
  { localCacheBytes }: DecisionsConfig,
  statistics: Statistics,
  now: () => number,
): LocalCache | undefined {
  if (localCacheBytes === 0) return undefined
  const cache = createLocalCache({ sizeInBytes: localCacheBytes, now })
  for (const name of localCacheGauges) {
    statistics.gauge(`ratelimit.localcache.${name}`, () => cache[name])
  }
  return cache
}

/** Refuses requests that are too large before they are processed. */
export function boundDecider(
  { decide, decideEncoded }: Decider,
  bounds: RequestBounds,
  serviceErrors: Counter,
): Decider {
  const toError = (excess: string): ExcessError => {
    serviceErrors.value += 1
    return new ExcessError(excess)
  }
  return {
    decide(request, deadlineMs, decided) {
      const excess = findExcess(request.descriptors, bounds)
      if (excess === undefined) decide(request, deadlineMs, decided)
      else decided(toError(excess), undefined)
    },
    decideEncoded(buffer, start, end, deadlineMs, decided) {
      const excess = findEncodedExcess(buffer, start, end, bounds)
      if (excess === undefined) decideEncoded(buffer, start, end, deadlineMs, decided)
      else decided(toError(excess), undefined)
    },
  }
}
