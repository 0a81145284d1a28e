import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics'
import type { SdkSettings } from './telemetry.ts'

/** The format that Prometheus asks for by this name. */
const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * A page of metrics at `/metrics`, and at `/`, of a port of its own, so that nobody outside needs to see it. Of several
 * workers each has its own page, on the ports from AUTH_OTEL_EXPORTER_PULL_PORT on: its counters are
 * of that process, as those of several servers would be.
 */
export async function openPullReader(settings: SdkSettings): Promise<MetricReader> {
  const { config, log, workerNumber } = settings
  const { pullHost: host, pullPort } = config.observability
  const port = pullPort === 0 ? 0 : pullPort + workerNumber - 1
  const reader = new PullReader()
  const server = createServer(toListener(reader))
  // Slow readers are of no use here.
  server.requestTimeout = 10_000
  reader.onClose = () => {
    server.close()
    server.closeAllConnections()
  }
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (error) {
    throw new Error(toFault(host, port, error), { cause: error })
  }
  const bound = server.address()
  const chosen = typeof bound === 'object' && bound !== null ? bound.port : port
  log.info(`Metrics on http://${host.includes(':') ? `[${host}]` : host}:${chosen}/metrics`)
  return reader
}

/** The present state of everything, whenever somebody asks. */
class PullReader extends MetricReader {
  onClose: () => void = () => {}
  readonly #serializer = new PrometheusSerializer('', false, undefined, false, true)

  async toPage(): Promise<string> {
    const { resourceMetrics } = await this.collect()
    return this.#serializer.serialize(withUnits(resourceMetrics))
  }

  protected override async onForceFlush(): Promise<void> {}

  protected override async onShutdown(): Promise<void> {
    this.onClose()
  }
}

const unitSuffixes: Readonly<Record<string, string>> = {
  s: '_seconds',
  By: '_bytes',
  '1': '_ratio',
}

/**
 * Names that Prometheus reserves: `_count` is a part of histograms, and a name has no type in it. OTLP has
 * the names of the standard and of the reference.
 */
const otherNames: Readonly<Record<string, string>> = {
  'db.client.connection.count': 'db.client.connections',
  email_rate_limit_counter: 'email_rate_limit',
}

/** Prometheus has units in the names; the serializer leaves that to us. */
function withUnits({ resource, scopeMetrics }: ResourceMetrics): ResourceMetrics {
  return {
    resource,
    scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.map((metric) => {
        const { name, unit } = metric.descriptor
        const known = otherNames[name] ?? name
        const descriptor = { ...metric.descriptor, name: `${known}${unitSuffixes[unit] ?? ''}` }
        return { ...metric, descriptor }
      }),
    })),
  }
}

function toListener(reader: PullReader): RequestListener {
  return (request, response) => {
    const [path] = (request.url ?? '').split('?')
    if (path !== '/' && path !== '/metrics') {
      response.writeHead(404).end()
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end()
    } else {
      reader.toPage().then(
        (page) => response.writeHead(200, { 'content-type': contentType }).end(page),
        () => response.writeHead(503).end(),
      )
    }
  }
}

function toFault(host: string, port: number, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = error instanceof Error ? error.message : String(error)
  const names = 'AUTH_OTEL_EXPORTER_PULL_HOST and AUTH_OTEL_EXPORTER_PULL_PORT'
  const advice =
    code === 'EADDRINUSE'
      ? `stop who has port ${port}, or set AUTH_OTEL_EXPORTER_PULL_PORT to another one`
      : `check ${names}`
  return `Metrics cannot be served on ${host}:${port} (${reason}): ${advice}.`
}
