import type { Increment } from '../counter-store.ts'
import { toTlsFiles } from '../network/client-tls.ts'
import type { OpenedStore, StoreContext, StoreSpan } from '../store-plugin.ts'
import { parseRedisAddress } from './address.ts'
import { createPerSecondRouter } from './per-second.ts'
import { openRedisStore, type RedisStore } from './redis-store.ts'
import { ConnectionCounters } from './settings.ts'
import type { RedisConfig, RedisInstanceConfig } from './variables.ts'

export function openRedis(config: RedisConfig, context: StoreContext): OpenedStore {
  const active = { main: true, perSecond: true }
  const watch = (instance: keyof typeof active) => (isActive: boolean) => {
    if (!config.checksConnection) return
    active[instance] = isActive
    context.onHealth(active.main && active.perSecond)
  }
  const traits = { countsBeforeAnswer: true, warmsUp: true, span: toSpan(config) }
  const others = openInstance(config, config.main, 'redis_pool', watch('main'), context)
  if (config.perSecond === undefined) return { store: others, ready: others.ready, ...traits }
  const perSecond = openInstance(
    config,
    config.perSecond,
    'redis_per_second_pool',
    watch('perSecond'),
    context,
  )
  return {
    store: createPerSecondRouter({ perSecond, others }),
    ready: Promise.all([others.ready, perSecond.ready]).then(() => undefined),
    ...traits,
  }
}

function openInstance(
  { commandTimeoutMs, startup }: RedisConfig,
  instance: RedisInstanceConfig,
  pool: string,
  onActive: (isActive: boolean) => void,
  { log, statistics, expirationJitterMaxSeconds }: StoreContext,
): RedisStore {
  const counters = new ConnectionCounters((name) => statistics.counter(`ratelimit.${pool}.${name}`))
  statistics.gauge(`ratelimit.${pool}.cx_active`, () => counters.active)
  const { type, socketType, url, auth, sentinelAuth, tls } = instance
  return openRedisStore({
    address: parseRedisAddress({ type, socketType, url }),
    auth,
    sentinelAuth,
    tls: tls && toTlsFiles(tls),
    poolSize: instance.poolSize,
    pipelineWindowMs: instance.pipelineWindowMs,
    pipelineLimit: instance.pipelineLimit,
    connectTimeoutMs: instance.connectTimeoutMs,
    commandTimeoutMs: commandTimeoutMs === 0 ? Number.POSITIVE_INFINITY : commandTimeoutMs,
    expirationJitterMaxSeconds,
    startup,
    counters,
    onActive,
    log,
  })
}

/** The length in commands is that of envoyproxy/ratelimit, which always sends two per key. */
function toSpan({ perSecond }: RedisConfig): StoreSpan {
  const countPerSecond = (increments: readonly Increment[]) =>
    perSecond === undefined ? 0 : increments.filter(({ unitSeconds }) => unitSeconds === 1).length
  return {
    name: 'Redis Pipeline Execution',
    toAttributes(increments) {
      const perSecondLength = countPerSecond(increments)
      return {
        'pipeline length': 2 * (increments.length - perSecondLength),
        'perSecondPipeline length': 2 * perSecondLength,
      }
    },
  }
}
