import { toExtraTags } from '../tags.ts'
import { LineSink } from './line-sink.ts'
import { openDescriptorOutput } from './outputs/descriptor.ts'
import type { Sink, SinkSettings, SinkSurroundings } from './sink.ts'
import { createStdoutFormat } from './stdout-format.ts'

const stdoutDescriptor = 1

export function openStdoutSink(
  { fd = stdoutDescriptor }: { readonly fd?: number },
  { flushIntervalMs, extraTags }: SinkSettings,
  surroundings: SinkSurroundings,
): Sink {
  const { log, now } = surroundings
  const output = openDescriptorOutput(fd, { log, name: 'standard output', isWanted: true })
  const format = createStdoutFormat(toExtraTags(extraTags), now)
  return new LineSink({ flushIntervalMs, format, output }, surroundings)
}
