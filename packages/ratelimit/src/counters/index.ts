import type { StoreEntry } from './store-plugin.ts'

/**
 * Every counter store. A store is loaded on demand, so that a limiter loads neither the settings of the service nor
 * the stores that it does not use.
 */
export const stores = [
  { loadPlugin: async () => (await import('./memory/plugin.ts')).memory },
  {
    loadPlugin: async () => (await import('./redis/plugin.ts')).redis,
    urlSchemes: ['redis:', 'rediss:', 'redis-cluster:', 'redis-sentinel:'],
    openUrl: async (url, parts) => (await import('./redis/open-url.ts')).openUrl(url, parts),
  },
  {
    loadPlugin: async () => (await import('./memcached/plugin.ts')).memcached,
    urlSchemes: ['memcached:'],
    openUrl: async (url, parts) => (await import('./memcached/open-url.ts')).openUrl(url, parts),
  },
] as const satisfies readonly StoreEntry[]
