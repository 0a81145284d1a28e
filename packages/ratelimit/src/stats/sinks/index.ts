import { countReservedTags, toExtraTags } from '../extra-tags.ts'
import { dogStatsd } from './dogstatsd.ts'
import { none } from './none.ts'
import { prometheus } from './prometheus/plugin.ts'
import type { Sink, SinkContext, SinkPlugin, SinkSettings } from './sink.ts'
import { statsd } from './statsd.ts'
import { stdout } from './stdout.ts'

/** Every statistics sink. */
export const sinks = [
  dogStatsd,
  statsd,
  prometheus,
  stdout,
  none,
] as const satisfies readonly SinkPlugin[]

export type SinkConfig = ReturnType<(typeof sinks)[number]['toConfig']>

export interface ChosenSink extends SinkSettings {
  readonly sink: SinkConfig
}

/** Rejects when a listener cannot be opened or a mapping file is invalid. */
export async function openSink(chosen: ChosenSink, context: SinkContext): Promise<Sink> {
  countReservedTags(toExtraTags(chosen.extraTags), context.statistics)
  const plugins: readonly SinkPlugin[] = sinks
  const plugin = plugins.find(({ kind }) => kind === chosen.sink.kind)
  if (plugin === undefined) throw new TypeError(`There is no sink '${chosen.sink.kind}'.`)
  return await plugin.open(chosen.sink, chosen, context)
}
