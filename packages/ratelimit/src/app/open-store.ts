import { FailureLog } from '@portcullis/service-kit/failure-log'
import type { Log } from '@portcullis/service-kit/log'
import type { StoreConfig } from '../config/store.ts'
import type { CounterStore } from '../counters/counter-store.ts'
import { openMemcachedStore } from '../counters/memcached/memcached-store.ts'
import { createMemcachedStatistics } from '../counters/memcached/statistics.ts'
import type { MemcachedConfig } from '../counters/memcached/variables.ts'
import { openMemoryStore } from '../counters/memory/memory-store.ts'
import type { TlsFiles } from '../counters/network/client-tls.ts'
import { parseRedisAddress } from '../counters/redis/address.ts'
import { createPerSecondRouter } from '../counters/redis/per-second.ts'
import { openRedisStore, type RedisStore } from '../counters/redis/redis-store.ts'
import { ConnectionCounters } from '../counters/redis/settings.ts'
import type { RedisConfig, RedisInstanceConfig } from '../counters/redis/variables.ts'
import type { Statistics } from '../stats/registry.ts'

export interface StoreSurroundings {
  readonly log: Log
  readonly statistics: Statistics
  readonly expirationJitterMaxSeconds: number
  /** Whether keys are those of envoyproxy/ratelimit to the byte. */
  readonly isCompatible: boolean
  /** Told whether the store is reachable, where it knows and was asked to watch. */
  readonly onHealth: (isHealthy: boolean) => void
}

export interface OpenStore {
  readonly store: CounterStore
  /** Rejects when the store cannot be used at all. */
  readonly ready: Promise<void>
}

export function openStore(config: StoreConfig, surroundings: StoreSurroundings): OpenStore {
  if (config.kind === 'redis') return openRedis(config, surroundings)
  if (config.kind === 'memcached') return openMemcached(config, surroundings)
  const { log, statistics } = surroundings
  if (config.isDefault) {
    log.warning(
      'No store is configured: counters live in this process, are not shared with other ' +
        'processes and are lost when it ends. Set KVSTORE_URL to count in Redis.',
    )
  }
  const evictions = new FailureLog((line) => log.warning(line), { windowMs: 60_000 })
  const onEvicted = () =>
    evictions.report(
      () =>
        `The memory store is full (${config.maxBytes} bytes): counters with the fewest hits are dropped, ` +
        'so that callers may exceed their limits. Raise MEMORY_STORE_MAX_BYTES or count in Redis',
    )
  const store = openMemoryStore({
    maxBytes: config.maxBytes,
    maxBytesName: 'MEMORY_STORE_MAX_BYTES',
    onEvicted,
  })
  statistics.gauge('ratelimit.memory_store.counters', () => store.size)
  statistics.gauge('ratelimit.memory_store.bytes', () => store.bytes)
  statistics.gauge('ratelimit.memory_store.evicted', () => store.evicted)
  return { store, ready: Promise.resolve() }
}

function openMemcached(
  { nodes, maxIdleConnections, tls }: MemcachedConfig,
  { log, statistics, expirationJitterMaxSeconds, isCompatible }: StoreSurroundings,
): OpenStore {
  const store = openMemcachedStore({
    nodes,
    maxIdleConnections,
    tls: tls && toTlsFiles(tls),
    expirationJitterMaxSeconds,
    hashesLongNames: !isCompatible,
    log,
    statistics: createMemcachedStatistics((name) => statistics.counter(name)),
  })
  return { store, ready: store.ready }
}

function openRedis(config: RedisConfig, surroundings: StoreSurroundings): OpenStore {
  const active = { main: true, perSecond: true }
  const watch = (instance: keyof typeof active) => (isActive: boolean) => {
    if (!config.checksConnection) return
    active[instance] = isActive
    surroundings.onHealth(active.main && active.perSecond)
  }
  const others = openInstance(config, config.main, 'redis_pool', watch('main'), surroundings)
  if (config.perSecond === undefined) return { store: others, ready: others.ready }
  const perSecond = openInstance(
    config,
    config.perSecond,
    'redis_per_second_pool',
    watch('perSecond'),
    surroundings,
  )
  return {
    store: createPerSecondRouter({ perSecond, others }),
    ready: Promise.all([others.ready, perSecond.ready]).then(() => undefined),
  }
}

function openInstance(
  { commandTimeoutMs, startup }: RedisConfig,
  instance: RedisInstanceConfig,
  pool: string,
  onActive: (isActive: boolean) => void,
  { log, statistics, expirationJitterMaxSeconds }: StoreSurroundings,
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

function toTlsFiles(tls: NonNullable<RedisInstanceConfig['tls']>): TlsFiles {
  return {
    caFile: tls.caPath,
    certFile: tls.certPath,
    keyFile: tls.keyPath,
    skipHostnameVerification: tls.skipsHostname,
  }
}
