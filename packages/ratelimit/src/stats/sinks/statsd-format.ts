import { mergeTags, type Tag, toNameSuffix } from '../tags.ts'
import { type LineFormat, toNumberText } from './line-format.ts'

const types = { counter: 'c', gauge: 'g', timer: 'ms' } as const

/** `name:value|c`, with tags as part of the name. */
export function createStatsdFormat(extraTags: readonly Tag[]): LineFormat {
  const extraSuffix = toNameSuffix(mergeTags(extraTags))
  return (type, name, tags, value) => {
    const suffix = tags.length === 0 ? extraSuffix : toNameSuffix(mergeTags(extraTags, tags))
    return `${name}${suffix}:${toNumberText(value)}|${types[type]}\n`
  }
}
