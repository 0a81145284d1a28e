import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  path,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import type { SinkPlugin } from '../sink.ts'
import type { PrometheusConfig } from './prometheus.ts'

const chapter = {
  title: 'Statistics for Prometheus',
  variables: {
    isUsed: boolean('USE_PROMETHEUS', false, 'Whether statistics are served to Prometheus'),
    address: string('PROMETHEUS_ADDR', ':9090', 'host:port of that listener'),
    path: string('PROMETHEUS_PATH', '/metrics', 'Path of that listener'),
    mapper: path(
      'PROMETHEUS_MAPPER_YAML',
      '',
      'Mapping file in the format of statsd_exporter, instead of the built-in names',
    ),
    usesMilliseconds: boolean(
      'PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS',
      false,
      'Whether response times are in milliseconds instead of seconds',
    ),
  },
} satisfies Chapter

export const prometheus: SinkPlugin<{ prometheus: typeof chapter }, PrometheusConfig> = {
  kind: 'prometheus',
  chapters: { prometheus: chapter },
  choice: chapter.variables.isUsed,
  isChosen: (settings) => settings.prometheus.isUsed,
  toConfig: (settings, check) => toConfig(settings.prometheus, check),
  open: async (config, settings, context) => {
    const { openPrometheusSink } = await import('./prometheus.ts')
    return openPrometheusSink(config, settings, context)
  },
}

function toConfig(settings: Settings<typeof chapter.variables>, check: Check): PrometheusConfig {
  const [, host = '', portText = ''] = /^(.*):(\d+)$/.exec(settings.address) ?? []
  const port = Number(portText)
  if (portText === '' || port > 65_535) {
    check.fault(chapter.variables.address, 'must be host:port or :port, for example :9090')
  }
  if (!settings.path.startsWith('/')) {
    check.fault(chapter.variables.path, 'must begin with a slash, for example /metrics')
  }
  return {
    kind: 'prometheus',
    host: host.replace(/^\[(.*)\]$/, '$1') || '0.0.0.0',
    port,
    path: settings.path,
    mapperPath: settings.mapper || undefined,
    usesMilliseconds: settings.usesMilliseconds,
  }
}
