import { mergeTags, type Tag } from '../tags.ts'
import { type LineFormat, toNumberText } from './line-format.ts'
import { type Mogrifier, mogrify } from './mogrify.ts'

const types = { counter: 'c', gauge: 'g', timer: 'ms' } as const

/** `name:value|c|#key:value,key2:value2`, after the first mogrifier that matches the name. */
export function createDogStatsdFormat(
  extraTags: readonly Tag[],
  mogrifiers: readonly Mogrifier[],
): LineFormat {
  const extraSuffix = toSuffix(mergeTags(extraTags))
  return (type, name, tags, value) => {
    const mogrified = mogrify(name, mogrifiers)
    const hasOwn = tags.length > 0 || mogrified.tags.length > 0
    const suffix = hasOwn ? toSuffix(mergeTags(extraTags, tags, mogrified.tags)) : extraSuffix
    return `${mogrified.name}:${toNumberText(value)}|${types[type]}${suffix}\n`
  }
}

function toSuffix(tags: readonly Tag[]): string {
  if (tags.length === 0) return ''
  return `|#${tags.map(([key, value]) => `${clean(key)}:${clean(value)}`).join()}`
}

/** Without what ends a tag or the line. A value may well hold dots and colons. */
function clean(text: string): string {
  return text.replaceAll(/[,|\p{Cc}]/gu, '_')
}
