import type { UrlStore, UrlStoreParts } from '../store-plugin.ts'
import { openMemcachedStore } from './memcached-store.ts'

/** Opens the memcached of a limiter. */
export function openUrl(url: string, { log }: UrlStoreParts): UrlStore {
  const hosts = url.slice('memcached://'.length).split(',')
  const nodes = { kind: 'list', hosts } as const
  const store = openMemcachedStore({ nodes, log, failsUnread: true, isBackground: true })
  return { store, ready: store.ready }
}
