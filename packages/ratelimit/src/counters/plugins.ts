import { stores } from './index.ts'
import { memory } from './memory/plugin.ts'
import type { OpenedStore, StoreContext, StorePlugin } from './store-plugin.ts'

/** Every counter store, as the service offers it. */
export const storePlugins = await Promise.all(stores.map(({ loadPlugin }) => loadPlugin()))

/** The store if neither BACKEND_TYPE nor a variable of a store selects one. */
export const defaultStore = memory

export type StoreConfig = ReturnType<(typeof storePlugins)[number]['toConfig']>

export function openStore(config: StoreConfig, context: StoreContext): Promise<OpenedStore> {
  return findPlugin(config).open(config, context)
}

/** Whether several processes can count in one place. */
export function isShared(config: StoreConfig): boolean {
  return findPlugin(config).isShared
}

function findPlugin(config: StoreConfig): StorePlugin {
  const plugins: readonly StorePlugin[] = storePlugins
  const found = plugins.find(({ kind }) => kind === config.kind)
  if (found === undefined) throw new TypeError(`There is no counter store '${config.kind}'.`)
  return found
}
