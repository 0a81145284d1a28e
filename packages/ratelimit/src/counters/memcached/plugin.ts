import { toTlsFiles } from '../network/client-tls.ts'
import type { OpenedStore, StoreContext, StorePlugin } from '../store-plugin.ts'
import { type MemcachedConfig, memcachedChapter, toMemcached } from './variables.ts'

const { hosts, srv } = memcachedChapter.variables

export const memcached: StorePlugin<{ memcached: typeof memcachedChapter }, MemcachedConfig> = {
  kind: 'memcached',
  backendTypes: ['memcache', 'distcache'],
  place: 'in memcached (memcache, distcache)',
  chapters: { memcached: memcachedChapter },
  choosingVariables: [],
  warnedVariables: [hosts, srv],
  isShared: true,
  toConfig: (settings, check) => toMemcached(settings.memcached, check),
  open,
}

async function open(
  { nodes, maxIdleConnections, tls }: MemcachedConfig,
  { log, statistics, expirationJitterMaxSeconds, isCompatible }: StoreContext,
): Promise<OpenedStore> {
  const { openMemcachedStore } = await import('./memcached-store.ts')
  const { createMemcachedStatistics } = await import('./statistics.ts')
  const store = openMemcachedStore({
    nodes,
    maxIdleConnections,
    tls: tls && toTlsFiles(tls),
    expirationJitterMaxSeconds,
    hashesLongNames: !isCompatible,
    log,
    statistics: createMemcachedStatistics((name) => statistics.counter(name)),
  })
  return {
    store,
    ready: store.ready,
    // memcached counts after the response was sent, so it cannot leave other counters unchanged.
    countsBeforeAnswer: false,
    // The reads of a warm-up would appear in its statistics.
    warmsUp: false,
    span: {
      name: 'Memcached Fetch Execution',
      toAttributes: (increments) => ({ 'keysToGet length': increments.length }),
    },
  }
}
