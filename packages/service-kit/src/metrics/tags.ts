export type Tag = readonly [key: string, value: string]

/** A name without the tags that are written into it: `memcache.get.__code=hit` has the tag `code`. */
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

/** Sorted by key. If a key occurs twice, the later tag wins. */
export function mergeTags(...groups: readonly (readonly Tag[])[]): Tag[] {
  const merged = new Map<string, string>()
  for (const group of groups) for (const [key, value] of group) merged.set(key, value)
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Tags as a part of the name, for systems without tags: `.__key=value.__key2=value2`. */
export function toNameSuffix(tags: readonly Tag[]): string {
  return tags.map(([key, value]) => `${mark}${clean(key)}=${clean(value)}`).join('')
}

/** A registered name as it is printed, with more tags. */
export function toTaggedName(registered: string, extraTags: readonly Tag[]): string {
  if (extraTags.length === 0) return registered
  const { name, tags } = parseTags(registered)
  return name + toNameSuffix(mergeTags(extraTags, tags))
}

/** Replaces the characters that end a part of the name, the name or the line. */
function clean(text: string): string {
  return text.replaceAll(/[.:|\p{Cc}]/gu, '_')
}
