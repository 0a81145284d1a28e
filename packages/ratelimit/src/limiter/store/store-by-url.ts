import { findSimilarName } from '@portcullis/service-kit/text/similar-names'
import { stores } from '../../counters/index.ts'
import { openEncodedCounters } from '../../counters/memory/memory-store.ts'
import type { OpenUrl, StoreEntry } from '../../counters/store-plugin.ts'

const entries: readonly StoreEntry[] = stores

/** How to open a store, by the scheme of its URL. */
const openers: ReadonlyMap<string, OpenUrl> = new Map(
  entries.flatMap(({ urlSchemes = [], openUrl }) =>
    openUrl === undefined ? [] : urlSchemes.map((scheme) => [scheme, openUrl] as const),
  ),
)

/** Counters in this process. */
export const memoryUrl = 'memory:'

export function openMemory(now: () => number) {
  return openEncodedCounters(now === Date.now ? {} : { now })
}

/** Undefined for an unknown scheme. */
export function findScheme(url: string): OpenUrl | undefined {
  return openers.get(toScheme(url))
}

export function isStoreUrl(url: string): boolean {
  return url === memoryUrl || findScheme(url) !== undefined
}

/** Shows only the scheme of the URL, because the rest may contain a password. */
export function describeStores(url: string): string {
  const schemes = [...openers.keys()]
  const known = [memoryUrl, ...schemes.map((scheme) => `${scheme}//`)]
  const scheme = toScheme(url)
  const meant = findSimilarName(scheme === '' ? url : scheme, [memoryUrl, ...schemes])
  const suggestion = meant === undefined ? '' : ` Did you mean ${meant}?`
  const given = scheme === '' ? 'a string without a scheme' : `'${scheme}'`
  return `must begin with one of ${known.join(', ')}, not ${given}.${suggestion}`
}

function toScheme(url: string): string {
  return url.slice(0, url.indexOf(':') + 1)
}
