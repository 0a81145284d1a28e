import type { Log } from '@portcullis/service-kit/log/log'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import type { AnyVariable, Chapters, SettingsByChapter } from '@portcullis/service-kit/settings/env'
import type { CounterStore, Increment } from './counter-store.ts'

/** A counter store in the list of index.ts. */
export interface StoreEntry {
  /** Loads what the service needs to know about the store. */
  readonly loadPlugin: () => Promise<StorePlugin>
  /** The schemes of the URLs by which a limiter chooses the store; missing if limiters do not offer it. */
  readonly urlSchemes?: readonly string[]
  readonly openUrl?: OpenUrl
}

/** Opens the store of a limiter. Loads the driver when it is called. */
export type OpenUrl = (url: string, parts: UrlStoreParts) => Promise<UrlStore>

export interface UrlStoreParts {
  readonly log: Log
  /** Called after each failed attempt to reach the store at startup. */
  readonly onFailedStart: (error: unknown) => void
}

export interface UrlStore {
  readonly store: CounterStore
  /** Rejects when the store cannot be used at all. */
  readonly ready: Promise<void>
}

/**
 * A kind of counter store, as the service offers it. To add one, create a folder that exports such an object and list
 * it in index.ts: BACKEND_TYPE, `serve --help`, the manual and the traces follow from it, as do the URLs of limiters.
 */
export interface StorePlugin<
  C extends Chapters = Chapters,
  Config extends StorePluginConfig = StorePluginConfig,
> {
  readonly kind: Config['kind']
  /** The values of BACKEND_TYPE that select it. */
  readonly backendTypes: readonly [string, ...string[]]
  /** Where it counts, for the help of BACKEND_TYPE: `in Redis (redis, kvstore)`. */
  readonly place: string
  /** The variables that only this store reads. */
  readonly chapters: C
  /** Any of these selects the store if BACKEND_TYPE is not set. */
  readonly choosingVariables: readonly AnyVariable[]
  /** Variables that cause a warning with counters in memory, because they have no effect then. */
  readonly warnedVariables: readonly AnyVariable[]
  /** Whether several processes can share the counters. */
  readonly isShared: boolean
  /** @param isDefault - whether BACKEND_TYPE is not set */
  toConfig(settings: SettingsByChapter<C>, check: Check, isDefault: boolean): Config
  /** Loads the driver on demand. */
  open(config: Config, context: StoreContext): Promise<OpenedStore>
}

/** The parsed settings of a store: plain data, which is sent to workers. */
export interface StorePluginConfig {
  readonly kind: string
}

export interface StoreContext {
  readonly log: Log
  readonly statistics: StoreStatistics
  readonly expirationJitterMaxSeconds: number
  /** Whether keys are identical to those of envoyproxy/ratelimit. */
  readonly isCompatible: boolean
  /** Called when the store becomes reachable or unreachable, if the store detects that. */
  readonly onHealth: (isHealthy: boolean) => void
}

/** The registry of statistics, as far as stores need it. */
export interface StoreStatistics {
  counter(name: string): { value: number }
  gauge(name: string, read: () => number): void
}

export interface OpenedStore extends UrlStore {
  /**
   * Whether the store calls back only after the hits were counted. A store that counts later cannot spare counters
   * (STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT).
   */
  readonly countsBeforeAnswer: boolean
  /** Whether the warm-up reads from this store; otherwise it uses its own counters in memory. */
  readonly warmsUp: boolean
  /** The span of a call of the store; undefined if the call is too short for one. */
  readonly span: StoreSpan | undefined
}

export interface StoreSpan {
  readonly name: string
  readonly toAttributes: (increments: readonly Increment[]) => Readonly<Record<string, number>>
}
