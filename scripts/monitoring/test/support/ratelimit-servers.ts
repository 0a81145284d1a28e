import type { TestContext } from 'node:test'
import { findFreePort, open, type RedisServer } from '@portcullis/test-servers'
import {
  type RunningService,
  startService,
} from '../../../../packages/ratelimit/test/support/service-process.ts'

/** Two hits per hour are allowed, and the third is refused. */
const limitedRules = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 2 }
`

export interface MonitoredService extends RunningService {
  /** host:port of the page for Prometheus. */
  readonly target: string
}

export interface MonitoredServices {
  readonly services: readonly MonitoredService[]
  /** The service whose counters are in `redis`. */
  readonly withRedis: MonitoredService
  readonly redis: RedisServer
}

/** One service for each kind of counter store. Undefined if the program of a store is missing. */
export async function openServices(t: TestContext): Promise<MonitoredServices | undefined> {
  const [redis, perSecond, memcached] = await Promise.all([
    open(t, 'redis'),
    open(t, 'redis'),
    open(t, 'memcached'),
  ])
  if (!redis || !perSecond || !memcached) return undefined
  const start = (env: Readonly<Record<string, string>>) => startMonitored(t, env)
  const [withRedis, ...others] = await Promise.all([
    start({
      KVSTORE_URL: `127.0.0.1:${redis.port}`,
      KVSTORE_PERSECOND: 'true',
      KVSTORE_PERSECOND_URL: `127.0.0.1:${perSecond.port}`,
    }),
    start({ BACKEND_TYPE: 'memory', LOCAL_CACHE_SIZE_IN_BYTES: '100000' }),
    start({ BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: `127.0.0.1:${memcached.port}` }),
  ])
  return { services: [withRedis, ...others], withRedis, redis }
}

async function startMonitored(
  t: TestContext,
  store: Readonly<Record<string, string>>,
): Promise<MonitoredService> {
  const target = `127.0.0.1:${await findFreePort()}`
  const service = await startService(t, {
    rules: limitedRules,
    env: {
      ...store,
      DISABLE_STATS: 'false',
      USE_STATSD: 'false',
      USE_PROMETHEUS: 'true',
      PROMETHEUS_ADDR: target,
    },
  })
  return Object.assign(service, { target })
}

/** Sends hits of a domain to a service over HTTP. */
export async function hit({ httpUrl }: RunningService, domain: string, times: number) {
  const body = JSON.stringify({
    domain,
    descriptors: [{ entries: [{ key: 'user', value: 'a' }] }],
  })
  for (let sent = 0; sent < times; sent += 1) {
    await (await fetch(`${httpUrl}/json`, { method: 'POST', body })).body?.cancel()
  }
}
