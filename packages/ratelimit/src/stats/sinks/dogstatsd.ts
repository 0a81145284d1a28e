import { createDogStatsdFormat } from '@portcullis/service-kit/metrics/lines/dogstatsd-format'
import { openUdpOutput } from '@portcullis/service-kit/metrics/lines/udp-output'
import { boolean, type Chapter, list } from '@portcullis/service-kit/settings/env'
import { toAddress } from '@portcullis/service-kit/text/address'
import { toExtraTags } from '../extra-tags.ts'
import { LineSink } from './lines/line-sink.ts'
import { isMogrifierVariable, type Mogrifier, mogrify, toMogrifiers } from './mogrify.ts'
import type { Sink, SinkContext, SinkPlugin, SinkSettings } from './sink.ts'
import { statsdAddress, tooLongAdvice } from './statsd.ts'

const chapter = {
  title: 'Statistics to DogStatsD',
  variables: {
    isUsed: boolean('USE_DOG_STATSD', false, 'Whether statistics are sent to DogStatsD, over UDP'),
    mogrifiers: list(
      'USE_DOG_STATSD_MOGRIFIERS',
      [],
      'Names of mogrifiers, which turn parts of a statistic name into tags; DOG_STATSD_MOGRIFIER_<NAME>_PATTERN, ' +
        '_NAME and _TAGS define each of them',
    ),
  },
} satisfies Chapter

const chapters = { dogStatsd: chapter, statsdAddress }

export interface DogStatsdConfig {
  readonly kind: 'dogstatsd'
  readonly host: string
  readonly port: number
  readonly mogrifiers: readonly Mogrifier[]
}

export const dogStatsd: SinkPlugin<typeof chapters, DogStatsdConfig> = {
  kind: 'dogstatsd',
  chapters,
  choice: chapter.variables.isUsed,
  isChosen: (settings) => settings.dogStatsd.isUsed,
  toConfig: (settings, check, env) => ({
    kind: 'dogstatsd',
    ...settings.statsdAddress,
    mogrifiers: toMogrifiers(settings.dogStatsd.mogrifiers, env, (message) =>
      check.fault(chapter.variables.mogrifiers, message),
    ),
  }),
  ownsVariable: isMogrifierVariable,
  open,
}

function open(
  { host, port, mogrifiers }: DogStatsdConfig,
  { flushIntervalMs, extraTags }: SinkSettings,
  context: SinkContext,
): Sink {
  const output = openUdpOutput(
    { host, port, tooLongAdvice },
    { log: context.log, name: `DogStatsD at ${toAddress(host, port)}`, isWanted: true },
  )
  const format = createDogStatsdFormat(toExtraTags(extraTags), (name) => mogrify(name, mogrifiers))
  return new LineSink({ flushIntervalMs, format, output }, context)
}
