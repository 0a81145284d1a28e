import { boolean, type Chapter, list } from '@portcullis/service-kit/env'
import { mergeTags, type Tag, toExtraTags } from '../tags.ts'
import { type LineFormat, toNumberText } from './lines/line-format.ts'
import { LineSink } from './lines/line-sink.ts'
import { openUdpOutput } from './lines/udp-output.ts'
import { isMogrifierVariable, type Mogrifier, mogrify, toMogrifiers } from './mogrify.ts'
import type { Sink, SinkPlugin, SinkSettings, SinkSurroundings } from './sink.ts'
import { statsdAddress, toAddress } from './statsd.ts'

const chapter = {
  title: 'Statistics to DogStatsD',
  variables: {
    isUsed: boolean('USE_DOG_STATSD', false, 'Whether statistics go to DogStatsD, over UDP'),
    mogrifiers: list(
      'USE_DOG_STATSD_MOGRIFIERS',
      [],
      'Names of rules that turn parts of a name into tags; DOG_STATSD_MOGRIFIER_<NAME>_PATTERN, ' +
        '_NAME and _TAGS describe each',
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
  config: DogStatsdConfig,
  { flushIntervalMs, extraTags }: SinkSettings,
  surroundings: SinkSurroundings,
): Sink {
  const output = openUdpOutput(config, {
    log: surroundings.log,
    name: `DogStatsD at ${toAddress(config)}`,
    isWanted: true,
  })
  const format = createDogStatsdFormat(toExtraTags(extraTags), config.mogrifiers)
  return new LineSink({ flushIntervalMs, format, output }, surroundings)
}

const types = { counter: 'c', gauge: 'g', timer: 'ms' } as const

/** `name:value|c|#key:value,key2:value2`, after the first mogrifier that matches the name. */
export function createDogStatsdFormat(
  extraTags: readonly Tag[],
  mogrifiers: readonly Mogrifier[],
): LineFormat {
  const extraSuffix = toSuffix(mergeTags(extraTags))
  return (type, name, tags, value) => {
    const mogrified = mogrify(name, mogrifiers)
    const hasOwn = tags.length > 0 || mogrified.tags.length > 0
    const suffix = hasOwn ? toSuffix(mergeTags(extraTags, tags, mogrified.tags)) : extraSuffix
    return `${mogrified.name}:${toNumberText(value)}|${types[type]}${suffix}\n`
  }
}

function toSuffix(tags: readonly Tag[]): string {
  if (tags.length === 0) return ''
  return `|#${tags.map(([key, value]) => `${clean(key)}:${clean(value)}`).join()}`
}

/** Without what ends a tag or the line. A value may well hold dots and colons. */
function clean(text: string): string {
  return text.replaceAll(/[,|\p{Cc}]/gu, '_')
}
