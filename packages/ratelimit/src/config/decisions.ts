import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  choice,
  integer,
  number,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { type KeyFormat, keyFormats } from '../decide/counter-key.ts'

export const decisions = {
  title: 'Decisions',
  variables: {
    shadowMode: boolean('SHADOW_MODE', false, 'Whether nothing is ever refused, only counted'),
    quotaMode: boolean(
      'QUOTA_MODE',
      false,
      'Whether a request is refused only when all of its descriptors are over their limits',
    ),
    nearLimitRatio: number(
      'NEAR_LIMIT_RATIO',
      0.8,
      'Part of a limit from which hits count as near_limit',
      { min: 0, max: 1 },
    ),
    localCacheBytes: integer(
      'LocalCacheSizeInBytes',
      0,
      'Memory for keys known to be over their limits, which the store is not asked about; 0: none',
      { aliases: ['LOCAL_CACHE_SIZE_IN_BYTES'] },
    ),
    cacheKeyPrefix: string('CACHE_KEY_PREFIX', '', 'Text before every key in the store'),
    keyFormat: choice(
      'CACHE_KEY_FORMAT',
      keyFormats,
      'exact',
      'exact: no two descriptors share a counter; compatible: the keys of envoyproxy/ratelimit, to share ' +
        'a store with it during a migration',
    ),
    mostDescriptors: integer(
      'MAX_DESCRIPTORS_PER_REQUEST',
      500,
      'How many descriptors a request may have',
      { min: 1, max: 1_000_000 },
    ),
    mostEntries: integer(
      'MAX_ENTRIES_PER_DESCRIPTOR',
      100,
      'How many entries each of them may have',
      { min: 1, max: 1_000_000 },
    ),
    expirationJitterMaxSeconds: integer(
      'EXPIRATION_JITTER_MAX_SECONDS',
      300,
      'Up to how much longer than its window a counter is kept in the store, by chance; 0 or less: no longer',
      { min: -(2 ** 31), max: 2 ** 31 - 1 },
    ),
    stopIncrement: boolean(
      'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT',
      false,
      'Whether one descriptor over its limit keeps the others of its request from being counted',
    ),
    hasHeaders: boolean(
      'LIMIT_RESPONSE_HEADERS_ENABLED',
      false,
      'Whether answers carry the three headers below',
    ),
    limitHeader: string('LIMIT_LIMIT_HEADER', 'RateLimit-Limit', 'Header with the limit'),
    remainingHeader: string(
      'LIMIT_REMAINING_HEADER',
      'RateLimit-Remaining',
      'Header with the hits left',
    ),
    resetHeader: string(
      'LIMIT_RESET_HEADER',
      'RateLimit-Reset',
      'Header with the seconds until the window ends',
    ),
    hasDynamicMetadata: boolean(
      'RESPONSE_DYNAMIC_METADATA',
      false,
      'Whether answers carry dynamic metadata: the request and the metadata of its rules',
    ),
  },
} satisfies Chapter

export interface DecisionsConfig {
  readonly isShadowMode: boolean
  readonly isQuotaMode: boolean
  readonly nearLimitRatio: number
  /** 0: no cache. */
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
    check.fault(variable, 'must be the name of a header, such as RateLimit-Limit')
  }
  return {
    limit: settings.limitHeader,
    remaining: settings.remainingHeader,
    reset: settings.resetHeader,
  }
}
