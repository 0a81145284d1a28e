import type { CounterStore } from '../../src/counters/counter-store.ts'
import { openMemcachedStore } from '../../src/counters/memcached/memcached-store.ts'
import { parseRedisAddress } from '../../src/counters/redis/address.ts'
import { openRedisStore } from '../../src/counters/redis/redis-store.ts'
import { createMemcachedLibraryStore } from './memcached-library-store.ts'
import { createRedisLibraryStore } from './redis-library-store.ts'

export interface ServerAddress {
  readonly kind: 'redis' | 'redis-cluster' | 'memcached'
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
}

/**
 * When the TTL of a Redis counter is set: with each increment, or only if the store does not know the
 * counter.
 */
export type Expiry = 'each-count' | 'unknown-only'

/** The contenders by server. The first one is this project's store. */
export const contenders: Readonly<Record<ServerAddress['kind'], readonly string[]>> = {
  redis: ['portcullis', 'redis-client', 'ioredis', 'ioredis-auto'],
  'redis-cluster': ['portcullis', 'redis-client', 'ioredis-auto'],
  memcached: ['portcullis', 'memjs', 'memcache'],
}

export async function openContender(
  name: string,
  { kind, hosts }: ServerAddress,
  expiry: Expiry,
): Promise<CounterStore> {
  const isRenewing = expiry === 'each-count'
  if (name === 'portcullis') {
    return kind === 'memcached'
      ? await openOurMemcached(hosts)
      : await openOurRedis(kind, hosts, isRenewing)
  }
  const isCluster = kind === 'redis-cluster'
  const { open } = await import(new URL(`./peers/${name}.mjs`, import.meta.url).href)
  const library = await open({ hosts, isCluster })
  return kind === 'memcached'
    ? createMemcachedLibraryStore(library)
    : createRedisLibraryStore(library, { isCluster, isRenewing })
}

const log = { error: console.error, warning: console.error, info: ignore, debug: ignore }
function ignore(): void {}

/** Reached only on a machine that is too slow for the benchmark. */
const timeoutMs = 60_000

async function openOurRedis(
  kind: 'redis' | 'redis-cluster',
  hosts: ServerAddress['hosts'],
  isRenewing: boolean,
): Promise<CounterStore> {
  const type = kind === 'redis' ? 'single' : 'cluster'
  const url = hosts.map(({ host, port }) => `${host}:${port}`).join(',')
  const store = openRedisStore({
    address: parseRedisAddress({ type, socketType: 'tcp', url }),
    // Without jitter, each increment renews the TTL.
    ...(isRenewing && { expirationJitterMaxSeconds: 0 }),
    commandTimeoutMs: timeoutMs,
    log,
  })
  await store.ready
  return store
}

async function openOurMemcached(hosts: ServerAddress['hosts']): Promise<CounterStore> {
  const names = hosts.map(({ host, port }) => `${host}:${port}`)
  const store = openMemcachedStore({ nodes: { kind: 'list', hosts: names }, timeoutMs, log })
  await store.ready
  return store
}
