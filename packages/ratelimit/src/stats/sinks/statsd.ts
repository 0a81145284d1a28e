import { toExtraTags } from '../tags.ts'
import { createDogStatsdFormat } from './dogstatsd-format.ts'
import { LineSink } from './line-sink.ts'
import type { Mogrifier } from './mogrify.ts'
import type { Output } from './outputs/output.ts'
import type { ReportSettings } from './outputs/reports.ts'
import { openTcpOutput } from './outputs/tcp.ts'
import { openUdpOutput } from './outputs/udp.ts'
import type { Sink, SinkSettings, SinkSurroundings } from './sink.ts'
import { createStatsdFormat } from './statsd-format.ts'

export interface StatsdSettings {
  readonly host: string
  readonly port: number
  readonly protocol: 'tcp' | 'udp'
  /** Whether nobody asked for it: then statsd may well be missing. */
  readonly isDefault: boolean
}

export interface DogStatsdSettings {
  readonly host: string
  readonly port: number
  readonly mogrifiers: readonly Mogrifier[]
}

const outputs = {
  tcp: openTcpOutput,
  udp: openUdpOutput,
} satisfies Record<
  StatsdSettings['protocol'],
  (address: StatsdSettings, reports: ReportSettings) => Output
>

export function openStatsdSink(
  statsd: StatsdSettings,
  { flushIntervalMs, extraTags }: SinkSettings,
  surroundings: SinkSurroundings,
): Sink {
  const output = outputs[statsd.protocol](statsd, {
    log: surroundings.log,
    name: `statsd at ${toAddress(statsd)}`,
    isWanted: !statsd.isDefault,
  })
  const format = createStatsdFormat(toExtraTags(extraTags))
  return new LineSink({ flushIntervalMs, format, output }, surroundings)
}

export function openDogStatsdSink(
  dogStatsd: DogStatsdSettings,
  { flushIntervalMs, extraTags }: SinkSettings,
  surroundings: SinkSurroundings,
): Sink {
  const output = openUdpOutput(dogStatsd, {
    log: surroundings.log,
    name: `DogStatsD at ${toAddress(dogStatsd)}`,
    isWanted: true,
  })
  const format = createDogStatsdFormat(toExtraTags(extraTags), dogStatsd.mogrifiers)
  return new LineSink({ flushIntervalMs, format, output }, surroundings)
}

function toAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
