export type Tag = readonly [key: string, value: string]

/** A name as it is registered: its own tags are part of it, `memcache.get.__code=hit`. */
export interface TaggedName {
  readonly name: string
  readonly tags: readonly Tag[]
}

const mark = '.__'

export function parseTags(registered: string): TaggedName {
  const at = registered.indexOf(mark)
  if (at === -1) return { name: registered, tags: [] }
  const tags: Tag[] = []
  for (const part of registered.slice(at + mark.length).split(mark)) {
    const equals = part.indexOf('=')
    if (equals > 0) tags.push([part.slice(0, equals), part.slice(equals + 1)])
  }
  return { name: registered.slice(0, at), tags }
}

/** Those of EXTRA_TAGS that say something. */
export function toExtraTags(extraTags: ReadonlyMap<string, string>): Tag[] {
  return [...extraTags].filter(([key, value]) => key !== '' && value !== '')
}

/** Sorted by key; of two with the same key the later one counts. */
export function mergeTags(...groups: readonly (readonly Tag[])[]): Tag[] {
  const merged = new Map<string, string>()
  for (const group of groups) for (const [key, value] of group) merged.set(key, value)
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Tags as a part of the name: `.__key=value.__key2=value2` (reference 7.2). */
export function toNameSuffix(tags: readonly Tag[]): string {
  return tags.map(([key, value]) => `${mark}${clean(key)}=${clean(value)}`).join('')
}

/** A registered name as it is printed, with more tags. */
export function toTaggedName(registered: string, extraTags: readonly Tag[]): string {
  if (extraTags.length === 0) return registered
  const { name, tags } = parseTags(registered)
  return name + toNameSuffix(mergeTags(extraTags, tags))
}

/** Without what ends a part of the name, the name or the line. */
function clean(text: string): string {
  return text.replaceAll(/[.:|\p{Cc}]/gu, '_')
}

/** Words that mean something to the statistics systems RS was written for (reference 7.1). */
const reservedWords = [
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

/** Counts the tags that use a reserved word; they are sent all the same. */
export function countReservedTags(
  tags: readonly Tag[],
  statistics: { counter(name: string): { value: number } },
): void {
  const reserved = tags.filter(([key]) => reservedWords.includes(key)).length
  if (reserved > 0) statistics.counter('reserved_tag').value += reserved
}
