import type { Check } from '@portcullis/service-kit/config-check'
import { type Chapter, choice, integer, type Settings } from '@portcullis/service-kit/env'
import { type MemcachedConfig, memcached, toMemcached } from '../counters/memcached/variables.ts'
import { type RedisConfig, redis, redisPerSecond, toRedis } from '../counters/redis/variables.ts'

const kinds = ['memory', 'redis', 'kvstore', 'memcache', 'distcache'] as const

export const store = {
  title: 'Counter store',
  variables: {
    kind: choice(
      'BACKEND_TYPE',
      kinds,
      'memory',
      'Where hits are counted: in this process, in Redis (redis, kvstore) or in memcached ' +
        '(memcache, distcache)',
      {
        defaultText: 'redis when any KVSTORE_ variable is set, else memory',
        refuse: (text) =>
          `Invalid setting for BackendType: ${text}. It must be one of: ${kinds.join(', ')}`,
      },
    ),
    memoryMaxBytes: integer(
      'MEMORY_STORE_MAX_BYTES',
      2 ** 30,
      'Memory for counters in this process, about 125 bytes each; when it is full, new ones take ' +
        'the place of those with the fewest hits',
      { min: 1 << 20, max: 2 ** 40 },
    ),
  },
} satisfies Chapter

export type StoreConfig = MemoryConfig | RedisConfig | MemcachedConfig

export interface MemoryConfig {
  readonly kind: 'memory'
  /** Whether nobody asked for it: then one line of the log should say where counters live. */
  readonly isDefault: boolean
  readonly maxBytes: number
}

export interface StoreSettings {
  readonly store: Settings<typeof store.variables>
  readonly redis: Settings<typeof redis.variables>
  readonly redisPerSecond: Settings<typeof redisPerSecond.variables>
  readonly memcached: Settings<typeof memcached.variables>
}

export function toStore(settings: StoreSettings, check: Check): StoreConfig {
  return stores[settings.store.kind](settings, check)
}

const toRedisStore: ToStore = (settings, check) =>
  toRedis(settings.redis, settings.redisPerSecond, check)
const toMemcachedStore: ToStore = (settings, check) => toMemcached(settings.memcached, check)

type ToStore = (settings: StoreSettings, check: Check) => StoreConfig

const stores: Readonly<Record<(typeof kinds)[number], ToStore>> = {
  memory: toMemoryStore,
  redis: toRedisStore,
  kvstore: toRedisStore,
  memcache: toMemcachedStore,
  distcache: toMemcachedStore,
}

function toMemoryStore(settings: StoreSettings, check: Check): StoreConfig {
  const isDefault = !check.isSet(store.variables.kind)
  const instances = [redis.variables, redisPerSecond.variables]
  const found = instances.flatMap((each) => Object.values(each)).find(check.isSet)
  if (found !== undefined) {
    if (isDefault) return toRedisStore(settings, check)
    check.note(`${check.nameOf(found)} has no effect: BACKEND_TYPE is memory`)
  }
  const { hosts, srv } = memcached.variables
  const node = [hosts, srv].find(check.isSet)
  if (node !== undefined) {
    check.note(`${check.nameOf(node)} has no effect: BACKEND_TYPE is not distcache`)
  }
  return { kind: 'memory', isDefault, maxBytes: settings.store.memoryMaxBytes }
}
