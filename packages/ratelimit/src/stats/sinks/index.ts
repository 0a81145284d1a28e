import { countReservedTags, toExtraTags } from '../tags.ts'
import { openNoSink } from './none.ts'
import { openPrometheusSink, type PrometheusSettings } from './prometheus/prometheus.ts'
import type { Sink, SinkSettings, SinkSurroundings } from './sink.ts'
import {
  type DogStatsdSettings,
  openDogStatsdSink,
  openStatsdSink,
  type StatsdSettings,
} from './statsd.ts'
import { openStdoutSink } from './stdout.ts'

interface SettingsByKind {
  readonly none: unknown
  readonly stdout: { readonly fd?: number }
  readonly statsd: StatsdSettings
  readonly dogstatsd: DogStatsdSettings
  readonly prometheus: PrometheusSettings
}

export type SinkKind = keyof SettingsByKind

/** A kind with the settings of that kind. */
export type SinkChoice<Kind extends SinkKind = SinkKind> = {
  [Each in Kind]: { readonly kind: Each } & SettingsByKind[Each]
}[Kind]

type OpenSink<Kind extends SinkKind> = (
  choice: SinkChoice<Kind>,
  settings: SinkSettings,
  surroundings: SinkSurroundings,
) => Sink | Promise<Sink>

/** Every place that statistics can go to. */
export const sinks: { readonly [Kind in SinkKind]: OpenSink<Kind> } = {
  none: openNoSink,
  stdout: openStdoutSink,
  statsd: openStatsdSink,
  dogstatsd: openDogStatsdSink,
  prometheus: openPrometheusSink,
}

export interface ChosenSink extends SinkSettings {
  readonly sink: SinkChoice
}

/** Rejects when a listener cannot be opened or a mapping file is wrong. */
export async function openSink(config: ChosenSink, surroundings: SinkSurroundings): Promise<Sink> {
  countReservedTags(toExtraTags(config.extraTags), surroundings.statistics)
  return await openByKind(config.sink, config, surroundings)
}

function openByKind<Kind extends SinkKind>(
  choice: SinkChoice<Kind>,
  settings: SinkSettings,
  surroundings: SinkSurroundings,
): Sink | Promise<Sink> {
  const open: OpenSink<Kind> = sinks[choice.kind]
  return open(choice, settings, surroundings)
}
