import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toExtraTags } from '../../tags.ts'
import type { Sink, SinkSettings, SinkSurroundings } from '../sink.ts'
import { createBuiltInMapping } from './built-in-mapping.ts'
import { Collector } from './collector.ts'
import { Families } from './families.ts'
import { parseMapper } from './mapper-file.ts'
import { type Mapping, toTagLabels } from './mapping.ts'
import { renderFamilies } from './render.ts'

export interface PrometheusConfig {
  readonly kind: 'prometheus'
  readonly host: string
  readonly port: number
  readonly path: string
  /** A mapping file of statsd_exporter, in place of the built-in names. */
  readonly mapperPath: string | undefined
  /** Whether times are in milliseconds instead of seconds. */
  readonly usesMilliseconds: boolean
}

/** Statistics wait until Prometheus fetches them (reference 7.3). */
export async function openPrometheusSink(
  settings: PrometheusConfig,
  { extraTags }: SinkSettings,
  { statistics, log, processGauges, hasDomain, listen }: SinkSurroundings,
): Promise<Sink> {
  const { host, port, path, usesMilliseconds } = settings
  const mapping =
    settings.mapperPath === undefined
      ? createBuiltInMapping({ usesMilliseconds, hasDomain })
      : await readMapper(settings.mapperPath, usesMilliseconds)
  const families = new Families(toTagLabels(toExtraTags(extraTags)), log)
  const collector = new Collector({ statistics, mapping, families, processGauges })

  const answer = async (response: ServerResponse): Promise<void> => {
    await collector.collect()
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
    // Who leaves early needs no rest.
    await pipeline(Readable.from(renderFamilies(families)), response).catch(() => undefined)
  }
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
      return
    }
    answer(response).catch((error: unknown) => {
      log.error(`Prometheus could not be answered: ${String(error)}`)
      response.destroy()
    })
  }
  try {
    const listener = await listen({ host, port, routes: { [path]: handle } })
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
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`Cannot listen for Prometheus: ${reason}. Set another PROMETHEUS_ADDR`)
  }
}

async function readMapper(path: string, usesMilliseconds: boolean): Promise<Mapping> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`PROMETHEUS_MAPPER_YAML cannot be read: ${reason}`)
  }
  const { mapping, faults } = parseMapper(text, { usesMilliseconds })
  if (mapping !== undefined) return mapping
  const lines = faults.map(
    ({ line, column, message }) => `\n  ${path}:${line}:${column}: ${message}`,
  )
  throw new Error(`PROMETHEUS_MAPPER_YAML is not right:${lines.join('')}`)
}
