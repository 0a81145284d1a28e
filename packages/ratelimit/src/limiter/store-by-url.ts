import type { Log } from '@portcullis/service-kit/log'
import type { CounterStore } from '../counters/counter-store.ts'
import { openMemoryStore } from '../counters/memory.ts'

export interface OpenedStore {
  readonly store: CounterStore
  /** Rejects when the store cannot be used at all. */
  readonly ready: Promise<void>
}

type OpenStore = (url: string, log: Log) => Promise<OpenedStore>

/** By the scheme of the URL. Drivers are loaded when used. */
const schemes: Readonly<Record<string, OpenStore>> = {
  'redis:': openRedis,
  'rediss:': openRedis,
  'redis-cluster:': openRedis,
  'redis-sentinel:': openRedis,
  'memcached:': openMemcached,
}

/** Counters that live in this process. */
export const memoryUrl = 'memory:'

export function openMemory(now: () => number): OpenedStore {
  return { store: openMemoryStore(now === Date.now ? {} : { now }), ready: Promise.resolve() }
}

/** Undefined for a scheme that nobody knows. */
export function findScheme(url: string): OpenStore | undefined {
  const scheme = url.slice(0, url.indexOf(':') + 1)
  return Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined
}

export function toUnknownScheme(url: string): string {
  const known = [memoryUrl, ...Object.keys(schemes).map((scheme) => `${scheme}//`)].join(', ')
  return `${url} is no URL of a store: it must begin with one of ${known}`
}

async function openRedis(url: string, log: Log): Promise<OpenedStore> {
  const { parseRedisAddress } = await import('../counters/redis/address.ts')
  const { openRedisStore } = await import('../counters/redis/redis-store.ts')
  // `redis-cluster://a:1,b:2` and `redis-sentinel://name,a:1,b:2` list their servers.
  const listed = /^redis-(?<type>cluster|sentinel):\/\/(?<list>.*)$/.exec(url)
  const type = listed?.groups?.['type'] ?? 'single'
  const address = parseRedisAddress({
    type,
    socketType: 'tcp',
    url: listed?.groups?.['list'] ?? url,
  })
  const store = openRedisStore({ address, log })
  return { store, ready: store.ready }
}

async function openMemcached(url: string, log: Log): Promise<OpenedStore> {
  const { openMemcachedStore } = await import('../counters/memcached/memcached-store.ts')
  const hosts = url.slice('memcached://'.length).split(',')
  const store = openMemcachedStore({ nodes: { kind: 'list', hosts }, log })
  return { store, ready: store.ready }
}
