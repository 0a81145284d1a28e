import { openDescriptorOutput } from '@portcullis/service-kit/metrics/lines/descriptor-output'
import type { LineFormat } from '@portcullis/service-kit/metrics/lines/line-format'
import { mergeTags, type Tag, toNameSuffix } from '@portcullis/service-kit/metrics/tags'
import { toExtraTags } from '../extra-tags.ts'
import { LineSink } from './lines/line-sink.ts'
import type { Sink, SinkContext, SinkPlugin, SinkSettings } from './sink.ts'

export interface StdoutConfig {
  readonly kind: 'stdout'
  readonly fd?: number
}

/** The sink that is used if no other one is selected. */
export const stdout: SinkPlugin<Record<never, never>, StdoutConfig> = {
  kind: 'stdout',
  chapters: {},
  choice: undefined,
  isChosen: () => false,
  toConfig: () => ({ kind: 'stdout' }),
  open,
}

const stdoutDescriptor = 1

function open(
  { fd = stdoutDescriptor }: StdoutConfig,
  { flushIntervalMs, extraTags }: SinkSettings,
  context: SinkContext,
): Sink {
  const { log, now } = context
  const output = openDescriptorOutput(fd, { log, name: 'standard output', isWanted: true })
  const format = createStdoutFormat(toExtraTags(extraTags), now)
  return new LineSink({ flushIntervalMs, format, output }, context)
}

/** Writes a JSON line per value, in the format of the logging sink of envoyproxy/ratelimit. */
function createStdoutFormat(extraTags: readonly Tag[], now: () => number): LineFormat {
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
