import { readFile } from 'node:fs/promises'
import { Families } from '@portcullis/service-kit/metrics/prometheus/families'
import { openMetricsListener } from '@portcullis/service-kit/metrics/prometheus/listener'
import { toReason } from '@portcullis/service-kit/text/reason'
import { toExtraTags } from '../../extra-tags.ts'
import type { Sink, SinkContext, SinkSettings } from '../sink.ts'
import { createBuiltInMapping } from './built-in-mapping.ts'
import { Collector } from './collector.ts'
import { parseMapper } from './mapper-file.ts'
import { type Mapping, toTagLabels } from './mapping.ts'

export interface PrometheusConfig {
  readonly kind: 'prometheus'
  readonly host: string
  readonly port: number
  readonly path: string
  /** A mapping file in the format of statsd_exporter, instead of the built-in names. */
  readonly mapperPath: string | undefined
  /** Whether times are in milliseconds instead of seconds. */
  readonly usesMilliseconds: boolean
}

/** Serves statistics to Prometheus, and brings them up to date at each request. */
export async function openPrometheusSink(
  settings: PrometheusConfig,
  { extraTags }: SinkSettings,
  { statistics, log, processGauges, hasDomain }: SinkContext,
): Promise<Sink> {
  const { host, port, path, usesMilliseconds } = settings
  const mapping =
    settings.mapperPath === undefined
      ? createBuiltInMapping({ usesMilliseconds, hasDomain })
      : await readMapper(settings.mapperPath, usesMilliseconds)
  const families = new Families(toTagLabels(toExtraTags(extraTags)), log)
  const collector = new Collector({ statistics, mapping, families, processGauges })

  try {
    const listener = await openMetricsListener({
      host,
      port,
      paths: [path],
      settings: { port: 'PROMETHEUS_ADDR', address: 'PROMETHEUS_ADDR' },
      async collect() {
        await collector.collect()
        return families
      },
      log,
    })
    log.warning(`Listening for Prometheus on '${listener.address}${path}'`)
    return {
      address: listener.address,
      flush: () => collector.collect(),
      async [Symbol.asyncDispose]() {
        await listener[Symbol.asyncDispose]()
        collector[Symbol.dispose]()
      },
    }
  } catch (error) {
    collector[Symbol.dispose]()
    throw error
  }
}

async function readMapper(path: string, usesMilliseconds: boolean): Promise<Mapping> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new Error(`PROMETHEUS_MAPPER_YAML: ${path} cannot be read: ${toReason(error)}`)
  }
  const { mapping, faults } = parseMapper(text, { usesMilliseconds })
  if (mapping !== undefined) return mapping
  const lines = faults.map(
    ({ line, column, message }) => `\n  ${path}:${line}:${column}: ${message}`,
  )
  throw new Error(`PROMETHEUS_MAPPER_YAML is invalid:${lines.join('')}`)
}
