import { mergeTags, type Tag, toNameSuffix } from '../tags.ts'
import type { LineFormat } from './line-format.ts'

/** A JSON line per value, as RS's logging sink writes it (reference 7.2). */
export function createStdoutFormat(extraTags: readonly Tag[], now: () => number): LineFormat {
  const extraSuffix = toNameSuffix(mergeTags(extraTags))
  return (type, name, tags, value) => {
    const suffix = tags.length === 0 ? extraSuffix : toNameSuffix(mergeTags(extraTags, tags))
    const seconds = (now() / 1000).toFixed(6)
    return (
      `{"level":"debug","ts":${seconds},"logger":"gostats.loggingsink",` +
      `"msg":"flushing ${type}","json":{"name":${JSON.stringify(name + suffix)},` +
      `"type":"${type}","value":"${value.toFixed(6)}"}}\n`
    )
  }
}
