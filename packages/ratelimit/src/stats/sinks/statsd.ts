import type { Output, ReportSettings } from '@portcullis/service-kit/metrics/lines/output'
import { createStatsdFormat } from '@portcullis/service-kit/metrics/lines/statsd-format'
import { openTcpOutput } from '@portcullis/service-kit/metrics/lines/tcp-output'
import { openUdpOutput } from '@portcullis/service-kit/metrics/lines/udp-output'
import { boolean, type Chapter, choice, port, string } from '@portcullis/service-kit/settings/env'
import { toAddress } from '@portcullis/service-kit/text/address'
import { toExtraTags } from '../extra-tags.ts'
import { LineSink } from './lines/line-sink.ts'
import type { Sink, SinkContext, SinkPlugin, SinkSettings } from './sink.ts'

/** DogStatsD uses the same variables. */
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
      'Whether statistics are sent to statsd; without any sink they are written to standard output',
    ),
    protocol: choice('STATSD_PROTOCOL', protocols, 'tcp', 'Transport protocol for statsd'),
  },
} satisfies Chapter

const chapters = { statsd: chapter, statsdAddress }

export interface StatsdConfig {
  readonly kind: 'statsd'
  readonly host: string
  readonly port: number
  readonly protocol: (typeof protocols)[number]
  /** Whether USE_STATSD is not set, so that statsd may not exist. */
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

/** The advice for statistics whose names do not fit into a packet. */
export const tooLongAdvice = "shorten EXTRA_TAGS or the rule's values, or use TCP"

const outputs: Readonly<
  Record<StatsdConfig['protocol'], (config: StatsdConfig, reports: ReportSettings) => Output>
> = {
  tcp: ({ host, port }, reports) => openTcpOutput({ host, port }, reports),
  udp: ({ host, port }, reports) => openUdpOutput({ host, port, tooLongAdvice }, reports),
}

function open(
  config: StatsdConfig,
  { flushIntervalMs, extraTags }: SinkSettings,
  context: SinkContext,
): Sink {
  const output = outputs[config.protocol](config, {
    log: context.log,
    name: `statsd at ${toAddress(config.host, config.port)}`,
    isWanted: !config.isDefault,
  })
  const format = createStatsdFormat(toExtraTags(extraTags))
  return new LineSink({ flushIntervalMs, format, output }, context)
}
