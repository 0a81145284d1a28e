import { memcached } from './memcached/plugin.ts'
import { memory } from './memory/plugin.ts'
import { redis } from './redis/plugin.ts'
import type { OpenedStore, StorePlugin, StoreSurroundings } from './store-plugin.ts'

/** Every counter store. */
export const stores = [memory, redis, memcached] as const satisfies readonly StorePlugin[]

/** Used when neither BACKEND_TYPE nor a variable of a store selects one. */
export const defaultStore = memory

export type StoreConfig = ReturnType<(typeof stores)[number]['toConfig']>

export function openStore(
  config: StoreConfig,
  surroundings: StoreSurroundings,
): Promise<OpenedStore> {
  return findPlugin(config).open(config, surroundings)
}

/** Whether several processes can share the counters. */
export function isShared(config: StoreConfig): boolean {
  return findPlugin(config).isShared
}

function findPlugin(config: StoreConfig): StorePlugin {
  const plugins: readonly StorePlugin[] = stores
  const found = plugins.find(({ kind }) => kind === config.kind)
  if (found === undefined) throw new TypeError(`There is no counter store '${config.kind}'.`)
  return found
}
