import { mergeTags, type Tag, type TaggedName } from '../tags.ts'
import { type LineFormat, toNumberText, typeCodes } from './line-format.ts'

/**
 * `name:value|c|#key:value,key2:value2`.
 * @param extraTags are added to each line.
 * @param rename turns a name into another one, with tags taken from it.
 */
export function createDogStatsdFormat(
  extraTags: readonly Tag[],
  rename: (name: string) => TaggedName = keepName,
): LineFormat {
  const extraSuffix = toSuffix(mergeTags(extraTags))
  return (type, name, tags, value) => {
    const renamed = rename(name)
    const hasOwn = tags.length > 0 || renamed.tags.length > 0
    const suffix = hasOwn ? toSuffix(mergeTags(extraTags, tags, renamed.tags)) : extraSuffix
    return `${renamed.name}:${toNumberText(value)}|${typeCodes[type]}${suffix}\n`
  }
}

function keepName(name: string): TaggedName {
  return { name, tags: [] }
}

function toSuffix(tags: readonly Tag[]): string {
  if (tags.length === 0) return ''
  return `|#${tags.map(([key, value]) => `${clean(key)}:${clean(value)}`).join()}`
}

/** Replaces the characters that end a tag or the line. Dots and colons are allowed in a value. */
function clean(text: string): string {
  return text.replaceAll(/[,|\p{Cc}]/gu, '_')
}
