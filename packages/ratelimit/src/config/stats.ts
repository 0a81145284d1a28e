import type { Check } from '@portcullis/service-kit/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  type Environment,
  integer,
  list,
  map,
  path,
  port,
  type Settings,
  string,
} from '@portcullis/service-kit/env'
import { type Mogrifier, toMogrifiers } from './mogrifiers.ts'

const protocols = ['tcp', 'udp'] as const

export const stats = {
  title: 'Statistics',
  variables: {
    isDisabled: boolean('DISABLE_STATS', false, 'Whether statistics are sent nowhere'),
    statsd: boolean(
      'USE_STATSD',
      true,
      'Whether statistics go to statsd; where no sink is chosen they are written to stdout',
    ),
    host: string('STATSD_HOST', 'localhost', 'Host of statsd or DogStatsD'),
    port: port('STATSD_PORT', 8125, 'Port of statsd or DogStatsD'),
    protocol: choice('STATSD_PROTOCOL', protocols, 'tcp', 'How statsd is spoken to'),
    flushIntervalMs: duration('STATS_FLUSH_INTERVAL', '10s', 'How often statistics are sent'),
    extraTags: map('EXTRA_TAGS', 'Tags on all statistics: k1:v1,k2:v2'),
    maxDynamicKeys: integer(
      'STATS_MAX_DYNAMIC_KEYS',
      10_000,
      'How many names made from the values of requests are kept; the least used are dropped',
      { min: 1, max: 10_000_000 },
    ),
    dogStatsd: boolean('USE_DOG_STATSD', false, 'Whether statistics go to DogStatsD, over UDP'),
    mogrifiers: list(
      'USE_DOG_STATSD_MOGRIFIERS',
      [],
      'Names of rules that turn parts of a name into tags; DOG_STATSD_MOGRIFIER_<NAME>_PATTERN, ' +
        '_NAME and _TAGS describe each',
    ),
    prometheus: boolean('USE_PROMETHEUS', false, 'Whether Prometheus may fetch statistics'),
    prometheusAddress: string('PROMETHEUS_ADDR', ':9090', 'host:port of that listener'),
    prometheusPath: string('PROMETHEUS_PATH', '/metrics', 'Path of that listener'),
    prometheusMapper: path(
      'PROMETHEUS_MAPPER_YAML',
      '',
      'Mapping file of statsd_exporter, in place of the built-in names',
    ),
    prometheusMilliseconds: boolean(
      'PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS',
      false,
      'Whether response times are in milliseconds instead of seconds',
    ),
  },
} satisfies Chapter

export interface StatsConfig {
  readonly flushIntervalMs: number
  readonly extraTags: ReadonlyMap<string, string>
  readonly maxDynamicKeys: number
  readonly sink: SinkConfig
}

export type SinkConfig =
  | { readonly kind: 'none' }
  | { readonly kind: 'stdout' }
  | {
      readonly kind: 'statsd'
      readonly host: string
      readonly port: number
      readonly protocol: (typeof protocols)[number]
      /** Whether nobody asked for it: then statsd may well be missing. */
      readonly isDefault: boolean
    }
  | {
      readonly kind: 'dogstatsd'
      readonly host: string
      readonly port: number
      readonly mogrifiers: readonly Mogrifier[]
    }
  | {
      readonly kind: 'prometheus'
      readonly host: string
      readonly port: number
      readonly path: string
      readonly mapperPath: string | undefined
      readonly usesMilliseconds: boolean
    }

type StatsSettings = Settings<typeof stats.variables>

export function toStats(settings: StatsSettings, env: Environment, check: Check): StatsConfig {
  const { flushIntervalMs, extraTags, maxDynamicKeys } = settings
  if (flushIntervalMs === 0) {
    check.fault(stats.variables.flushIntervalMs, 'must be longer than 0')
  }
  return { flushIntervalMs, extraTags, maxDynamicKeys, sink: toSink(settings, env, check) }
}

function toSink(settings: StatsSettings, env: Environment, check: Check): SinkConfig {
  const { variables } = stats
  const { host, port } = settings
  if (settings.isDisabled) return { kind: 'none' }
  const chosen = [settings.dogStatsd, settings.statsd, settings.prometheus].filter(Boolean)
  if (chosen.length > 1) {
    const other = settings.dogStatsd ? variables.dogStatsd : variables.prometheus
    const hint = check.isSet(variables.statsd) ? '' : ' (USE_STATSD is true unless set to false.)'
    check.fault(
      other,
      'unable to use more than one stats sink at the same time. ' +
        `Set one of USE_DOG_STATSD, USE_STATSD, USE_PROMETHEUS.${hint}`,
    )
  }
  if (settings.dogStatsd) {
    const mogrifiers = toMogrifiers(settings.mogrifiers, env, (message) =>
      check.fault(variables.mogrifiers, message),
    )
    return { kind: 'dogstatsd', host, port, mogrifiers }
  }
  if (settings.prometheus) return toPrometheus(settings, check)
  if (!settings.statsd) return { kind: 'stdout' }
  const isDefault = ![variables.statsd, variables.host, variables.port].some(check.isSet)
  return { kind: 'statsd', host, port, protocol: settings.protocol, isDefault }
}

function toPrometheus(settings: StatsSettings, check: Check): SinkConfig {
  const { prometheusAddress, prometheusPath } = stats.variables
  const [, host = '', portText = ''] = /^(.*):(\d+)$/.exec(settings.prometheusAddress) ?? []
  const port = Number(portText)
  if (portText === '' || port > 65_535) {
    check.fault(prometheusAddress, 'must be host:port or :port, for example :9090')
  }
  if (!settings.prometheusPath.startsWith('/')) {
    check.fault(prometheusPath, 'must begin with a slash, for example /metrics')
  }
  return {
    kind: 'prometheus',
    host: host.replace(/^\[(.*)\]$/, '$1') || '0.0.0.0',
    port,
    path: settings.prometheusPath,
    mapperPath: settings.prometheusMapper || undefined,
    usesMilliseconds: settings.prometheusMilliseconds,
  }
}
