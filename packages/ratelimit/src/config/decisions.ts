import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  choice,
  integer,
  number,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import { type KeyFormat, keyFormats } from '../decide/counter-key.ts'

export const decisions = {
  title: 'Decisions',
  variables: {
    shadowMode: boolean(
      'SHADOW_MODE',
      false,
      'Whether requests are only counted, and never refused',
    ),
    quotaMode: boolean(
      'QUOTA_MODE',
      false,
      'Whether a request is refused only when all of its descriptors are over their limits',
    ),
    nearLimitRatio: number(
      'NEAR_LIMIT_RATIO',
      0.8,
      'Fraction of a limit above which hits count as near_limit',
      { min: 0, max: 1 },
    ),
    localCacheBytes: integer(
      'LocalCacheSizeInBytes',
      0,
      'Size of the in-process cache of keys that are over their limits, which saves store lookups; 0: no cache',
      { aliases: ['LOCAL_CACHE_SIZE_IN_BYTES'] },
    ),
    cacheKeyPrefix: string('CACHE_KEY_PREFIX', '', 'Prefix of every key in the store'),
    keyFormat: choice(
      'CACHE_KEY_FORMAT',
      keyFormats,
      'exact',
      'exact: no two descriptors share a counter; compatible: the key format of envoyproxy/ratelimit, to share ' +
        'a store with it during a migration',
    ),
    mostDescriptors: integer(
      'MAX_DESCRIPTORS_PER_REQUEST',
      500,
      'Maximum number of descriptors in a request',
      { min: 1, max: 1_000_000 },
    ),
    mostEntries: integer(
      'MAX_ENTRIES_PER_DESCRIPTOR',
      100,
      'Maximum number of entries in a descriptor',
      { min: 1, max: 1_000_000 },
    ),
    expirationJitterMaxSeconds: integer(
      'EXPIRATION_JITTER_MAX_SECONDS',
      300,
      'Maximum of the random time that is added to the expiration of a counter in the store; 0 or less: none',
      { min: -(2 ** 31), max: 2 ** 31 - 1 },
    ),
    stopIncrement: boolean(
      'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT',
      false,
      'Whether the other descriptors of a request are not counted when one of them is over its limit',
    ),
    hasHeaders: boolean(
      'LIMIT_RESPONSE_HEADERS_ENABLED',
      false,
      'Whether responses carry the three headers below',
    ),
    limitHeader: string(
      'LIMIT_LIMIT_HEADER',
      'RateLimit-Limit',
      'Name of the header with the limit',
    ),
    remainingHeader: string(
      'LIMIT_REMAINING_HEADER',
      'RateLimit-Remaining',
      'Name of the header with the number of remaining hits',
    ),
    resetHeader: string(
      'LIMIT_RESET_HEADER',
      'RateLimit-Reset',
      'Name of the header with the seconds until the window ends',
    ),
    hasDynamicMetadata: boolean(
      'RESPONSE_DYNAMIC_METADATA',
      false,
      'Whether responses carry dynamic metadata: the request and the metadata of its rules',
    ),
  },
} satisfies Chapter

export interface DecisionsConfig {
  readonly isShadowMode: boolean
  readonly isQuotaMode: boolean
  readonly nearLimitRatio: number
  /** 0 disables the cache. */
  readonly localCacheBytes: number
  readonly cacheKeyPrefix: string
  readonly keyFormat: KeyFormat
  readonly mostDescriptors: number
  readonly mostEntries: number
  readonly expirationJitterMaxSeconds: number
  readonly stopsIncrementWhenOver: boolean
  readonly headerNames: HeaderNames | undefined
  readonly addsDynamicMetadata: boolean
}

interface HeaderNames {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

type DecisionSettings = Settings<typeof decisions.variables>

export function toDecisions(settings: DecisionSettings, check: Check): DecisionsConfig {
  return {
    isShadowMode: settings.shadowMode,
    isQuotaMode: settings.quotaMode,
    nearLimitRatio: settings.nearLimitRatio,
    localCacheBytes: settings.localCacheBytes,
    cacheKeyPrefix: settings.cacheKeyPrefix,
    keyFormat: settings.keyFormat,
    mostDescriptors: settings.mostDescriptors,
    mostEntries: settings.mostEntries,
    expirationJitterMaxSeconds: settings.expirationJitterMaxSeconds,
    stopsIncrementWhenOver: settings.stopIncrement,
    headerNames: settings.hasHeaders ? toHeaderNames(settings, check) : undefined,
    addsDynamicMetadata: settings.hasDynamicMetadata,
  }
}

function toHeaderNames(settings: DecisionSettings, check: Check): HeaderNames {
  const { limitHeader, remainingHeader, resetHeader } = decisions.variables
  const names = [
    [limitHeader, settings.limitHeader],
    [remainingHeader, settings.remainingHeader],
    [resetHeader, settings.resetHeader],
  ] as const
  for (const [variable, name] of names) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) continue
    check.fault(variable, 'must be a valid header name, such as RateLimit-Limit')
  }
  return {
    limit: settings.limitHeader,
    remaining: settings.remainingHeader,
    reset: settings.resetHeader,
  }
}
