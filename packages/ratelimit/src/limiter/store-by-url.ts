import type { Log } from '@portcullis/service-kit/log'
import { findSimilarName } from '@portcullis/service-kit/similar-names'
import type { CounterStore } from '../counters/counter-store.ts'
import { openMemoryStore } from '../counters/memory/memory-store.ts'

export interface OpenedStore {
  readonly store: CounterStore
  /** Rejects when the store cannot be used at all. */
  readonly ready: Promise<void>
}

export interface OpenStoreParts {
  readonly log: Log
  /** Called after each failed attempt to reach the store at startup. */
  readonly onFailedStart: (error: unknown) => void
}

type OpenStore = (url: string, parts: OpenStoreParts) => Promise<OpenedStore>

/** By the scheme of the URL. Drivers are loaded on demand. */
const schemes: Readonly<Record<string, OpenStore>> = {
  'redis:': openRedis,
  'rediss:': openRedis,
  'redis-cluster:': openRedis,
  'redis-sentinel:': openRedis,
  'memcached:': openMemcached,
}

/** Counters in this process. */
export const memoryUrl = 'memory:'

export function openMemory(now: () => number): CounterStore {
  return openMemoryStore(now === Date.now ? {} : { now })
}

/** Undefined for an unknown scheme. */
export function findScheme(url: string): OpenStore | undefined {
  const scheme = toScheme(url)
  return Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined
}

export function isStoreUrl(url: string): boolean {
  return url === memoryUrl || findScheme(url) !== undefined
}

/** Shows only the scheme of the URL, because the rest may contain a password. */
export function describeStores(url: string): string {
  const known = [memoryUrl, ...Object.keys(schemes).map((scheme) => `${scheme}//`)]
  const scheme = toScheme(url)
  const meant = findSimilarName(scheme === '' ? url : scheme, [memoryUrl, ...Object.keys(schemes)])
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`
  const given = scheme === '' ? 'a string without a scheme' : `'${scheme}'`
  return `must begin with one of ${known.join(', ')}, not ${given}.${question}`
}

function toScheme(url: string): string {
  return url.slice(0, url.indexOf(':') + 1)
}

async function openRedis(
  url: string,
  { log, onFailedStart }: OpenStoreParts,
): Promise<OpenedStore> {
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
  const store = openRedisStore({ address, log, onFailedStart, isBackground: true })
  return { store, ready: store.ready }
}

async function openMemcached(url: string, { log }: OpenStoreParts): Promise<OpenedStore> {
  const { openMemcachedStore } = await import('../counters/memcached/memcached-store.ts')
  const hosts = url.slice('memcached://'.length).split(',')
  const nodes = { kind: 'list', hosts } as const
  const store = openMemcachedStore({ nodes, log, failsUnread: true, isBackground: true })
  return { store, ready: store.ready }
}
