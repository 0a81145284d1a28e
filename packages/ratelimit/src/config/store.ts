import type { Check } from '@portcullis/service-kit/settings/config-check'
import { type Chapter, choice, type SettingsByChapter } from '@portcullis/service-kit/settings/env'
import { defaultStore, type StoreConfig, storePlugins } from '../counters/plugins.ts'
import { mergeChapters } from './plugin-chapters.ts'

const allBackendTypes = storePlugins.flatMap(({ backendTypes }) => backendTypes)
const places = storePlugins.map(({ place }) => place)

const store = {
  title: 'Counter store',
  variables: {
    kind: choice(
      'BACKEND_TYPE',
      allBackendTypes,
      defaultStore.backendTypes[0],
      `Where hits are counted: ${places.slice(0, -1).join(', ')} or ${places.at(-1)}`,
      {
        defaultText: 'redis when any KVSTORE_ variable is set, else memory',
        refuse: (text) =>
          `Invalid setting for BackendType: ${text}. It must be one of: ${allBackendTypes.join(', ')}`,
      },
    ),
  },
} satisfies Chapter

/** The variable that selects a store, and the variables of each store. */
export const storeChapters = { store, ...mergeChapters(storePlugins) }

export function toStore(
  settings: SettingsByChapter<typeof storeChapters>,
  check: Check,
): StoreConfig {
  const { kind } = settings.store
  const isDefault = !check.isSet(store.variables.kind)
  const chosen =
    storePlugins.find(({ backendTypes, choosingVariables }) =>
      isDefault ? choosingVariables.some(check.isSet) : backendTypes.includes(kind),
    ) ?? defaultStore
  if (chosen === defaultStore) {
    for (const { backendTypes, warnedVariables } of storePlugins) {
      const unused = warnedVariables.find(check.isSet)
      if (unused === undefined) continue
      const reason = isDefault ? `is not ${backendTypes.at(-1)}` : `is ${kind}`
      check.note(`${check.nameOf(unused)} has no effect: BACKEND_TYPE ${reason}`)
    }
  }
  return chosen.toConfig(settings, check, isDefault)
}
