import { mergeTags, type Tag, toNameSuffix } from '../tags.ts'
import { type LineFormat, toNumberText, typeCodes } from './line-format.ts'

/**
 * `name:value|c`, with tags as a part of the name.
 * @param extraTags are added to each line.
 */
export function createStatsdFormat(extraTags: readonly Tag[]): LineFormat {
  const extraSuffix = toNameSuffix(mergeTags(extraTags))
  return (type, name, tags, value) => {
    const suffix = tags.length === 0 ? extraSuffix : toNameSuffix(mergeTags(extraTags, tags))
    return `${name}${suffix}:${toNumberText(value)}|${typeCodes[type]}\n`
  }
}
