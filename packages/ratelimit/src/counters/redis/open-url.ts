import type { UrlStore, UrlStoreParts } from '../store-plugin.ts'
import { parseRedisAddress } from './address.ts'
import { openRedisStore } from './redis-store.ts'

/** Opens the Redis of a limiter. */
export function openUrl(url: string, { log, onFailedStart }: UrlStoreParts): UrlStore {
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
