import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  duration,
  type Environment,
  integer,
  map,
  type SettingsByChapter,
} from '@portcullis/service-kit/settings/env'
import { type SinkConfig, sinks } from '../stats/sinks/index.ts'
import { mergeChapters } from './plugin-chapters.ts'

const stats = {
  title: 'Statistics',
  variables: {
    isDisabled: boolean(
      'DISABLE_STATS',
      false,
      'Whether no statistics are sent; /stats stays available',
    ),
    flushIntervalMs: duration('STATS_FLUSH_INTERVAL', '10s', 'How often statistics are sent'),
    extraTags: map('EXTRA_TAGS', 'Tags that are added to all statistics: k1:v1,k2:v2'),
    maxDynamicKeys: integer(
      'STATS_MAX_DYNAMIC_KEYS',
      10_000,
      'Maximum number of statistics that are named after request values; the least used are dropped',
      { min: 1, max: 10_000_000 },
    ),
    topKeysSize: integer(
      'TOP_KEYS_SIZE',
      1_000,
      'Number of keys that each list of /top keeps, in each process; 0: /top is disabled',
      { min: 0, max: 10_000 },
    ),
  },
} satisfies Chapter

/** The variables that all sinks share, and the variables of each sink. */
export const statsChapters = { stats, ...mergeChapters(sinks) }

export interface StatsConfig {
  readonly flushIntervalMs: number
  readonly extraTags: ReadonlyMap<string, string>
  readonly maxDynamicKeys: number
  /** 0 disables the lists of `/top`. */
  readonly topKeysSize: number
  readonly sink: SinkConfig
}

type StatsSettings = SettingsByChapter<typeof statsChapters>

export function toStats(settings: StatsSettings, env: Environment, check: Check): StatsConfig {
  const { flushIntervalMs, extraTags, maxDynamicKeys, topKeysSize } = settings.stats
  if (flushIntervalMs === 0) {
    check.fault(stats.variables.flushIntervalMs, 'must be longer than 0')
  }
  const sink = toSink(settings, env, check)
  return { flushIntervalMs, extraTags, maxDynamicKeys, topKeysSize, sink }
}

/** Whether a sink reads a variable whose name depends on the values of others. */
export function isSinkVariable(name: string): boolean {
  return sinks.some((sink) => sink.ownsVariable?.(name) === true)
}

function toSink(settings: StatsSettings, env: Environment, check: Check): SinkConfig {
  if (settings.stats.isDisabled) return { kind: 'none' }
  const chosen = sinks.filter((sink) => sink.isChosen(settings))
  if (chosen.length > 1) refuseSecond(chosen, check)
  return chosen[0]?.toConfig(settings, check, env) ?? { kind: 'stdout' }
}

/** Reports the sink that was chosen in addition to the default sink. */
function refuseSecond(
  chosen: readonly Pick<(typeof sinks)[number], 'choice'>[],
  check: Check,
): void {
  const choices = sinks.flatMap(({ choice }) => choice ?? [])
  const other = chosen.flatMap(({ choice }) => choice ?? []).find((choice) => !choice.default)
  const implied = choices.find((choice) => choice.default && !check.isSet(choice))
  if (other === undefined) return
  const names = choices.map(({ name }) => name).join(', ')
  const hint =
    implied === undefined ? '' : ` (${implied.name} is true by default: set it to false.)`
  check.fault(
    other,
    `unable to use more than one stats sink at the same time. Set one of ${names}.${hint}`,
  )
}
