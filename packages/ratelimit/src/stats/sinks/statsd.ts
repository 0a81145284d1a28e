import { boolean, type Chapter, choice, port, string } from '@portcullis/service-kit/env'
import { mergeTags, type Tag, toExtraTags, toNameSuffix } from '../tags.ts'
import { type LineFormat, toNumberText } from './lines/line-format.ts'
import { LineSink } from './lines/line-sink.ts'
import type { Output, ReportSettings } from './lines/output.ts'
import { openTcpOutput } from './lines/tcp-output.ts'
import { openUdpOutput } from './lines/udp-output.ts'
import type { Sink, SinkPlugin, SinkSettings, SinkSurroundings } from './sink.ts'

/** DogStatsD listens at the same address. */
export const statsdAddress = {
  title: 'Address of statsd or DogStatsD',
  variables: {
    host: string('STATSD_HOST', 'localhost', 'Host of statsd or DogStatsD'),
    port: port('STATSD_PORT', 8125, 'Port of statsd or DogStatsD'),
  },
} satisfies Chapter

const protocols = ['tcp', 'udp'] as const

const chapter = {
  title: 'Statistics to statsd',
  variables: {
    isUsed: boolean(
      'USE_STATSD',
      true,
      'Whether statistics go to statsd; where no sink is chosen they are written to stdout',
    ),
    protocol: choice('STATSD_PROTOCOL', protocols, 'tcp', 'How statsd is spoken to'),
  },
} satisfies Chapter

const chapters = { statsd: chapter, statsdAddress }

export interface StatsdConfig {
  readonly kind: 'statsd'
  readonly host: string
  readonly port: number
  readonly protocol: (typeof protocols)[number]
  /** Whether it was not asked for: then statsd may well be missing. */
  readonly isDefault: boolean
}

export const statsd: SinkPlugin<typeof chapters, StatsdConfig> = {
  kind: 'statsd',
  chapters,
  choice: chapter.variables.isUsed,
  isChosen: (settings) => settings.statsd.isUsed,
  toConfig(settings, check) {
    const telling = [chapter.variables.isUsed, ...Object.values(statsdAddress.variables)]
    return {
      kind: 'statsd',
      ...settings.statsdAddress,
      protocol: settings.statsd.protocol,
      isDefault: !telling.some(check.isSet),
    }
  },
  open,
}

const outputs = {
  tcp: openTcpOutput,
  udp: openUdpOutput,
} satisfies Record<
  StatsdConfig['protocol'],
  (address: StatsdConfig, reports: ReportSettings) => Output
>

function open(
  config: StatsdConfig,
  { flushIntervalMs, extraTags }: SinkSettings,
  surroundings: SinkSurroundings,
): Sink {
  const output = outputs[config.protocol](config, {
    log: surroundings.log,
    name: `statsd at ${toAddress(config)}`,
    isWanted: !config.isDefault,
  })
  const format = createStatsdFormat(toExtraTags(extraTags))
  return new LineSink({ flushIntervalMs, format, output }, surroundings)
}

export function toAddress({
  host,
  port,
}: {
  readonly host: string
  readonly port: number
}): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

const types = { counter: 'c', gauge: 'g', timer: 'ms' } as const

/** `name:value|c`, with tags as part of the name. */
export function createStatsdFormat(extraTags: readonly Tag[]): LineFormat {
  const extraSuffix = toNameSuffix(mergeTags(extraTags))
  return (type, name, tags, value) => {
    const suffix = tags.length === 0 ? extraSuffix : toNameSuffix(mergeTags(extraTags, tags))
    return `${name}${suffix}:${toNumberText(value)}|${types[type]}\n`
  }
}
