import type { Tag } from '@portcullis/service-kit/metrics/tags'

/** The tags of EXTRA_TAGS, without those that have no key or no value. */
export function toExtraTags(extraTags: ReadonlyMap<string, string>): Tag[] {
  return [...extraTags].filter(([key, value]) => key !== '' && value !== '')
}

/** Keys with a special meaning in the systems that envoyproxy/ratelimit sends statistics to. */
const reservedKeys = [
  'asg',
  'az',
  'backend',
  'canary',
  'host',
  'period',
  'region',
  'shard',
  'window',
  'source',
  'project',
  'facet',
  'envoyservice',
]

/** Counts the tags with a reserved key. They are still sent. */
export function countReservedTags(
  tags: readonly Tag[],
  statistics: { counter(name: string): { value: number } },
): void {
  const reserved = tags.filter(([key]) => reservedKeys.includes(key)).length
  if (reserved > 0) statistics.counter('reserved_tag').value += reserved
}
