import { MetricReader } from '@opentelemetry/sdk-metrics'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Families } from '@portcullis/service-kit/metrics/prometheus/families'
import { openMetricsListener } from '@portcullis/service-kit/metrics/prometheus/listener'
import { toFamilies } from './prometheus-families.ts'
import type { SdkSettings } from './telemetry.ts'

/**
 * Serves the metrics at `/metrics` and `/`. Each worker has its own page, because the counters
 * belong to its process; the ports start at AUTH_OTEL_EXPORTER_PULL_PORT.
 */
export async function openPullReader(settings: SdkSettings): Promise<MetricReader> {
  const { config, log, workerNumber } = settings
  const { pullHost: host, pullPort } = config.observability
  const reader = new PullReader(log)
  const listener = await openMetricsListener({
    host,
    port: pullPort === 0 ? 0 : pullPort + workerNumber - 1,
    paths: ['/metrics', '/'],
    settings: {
      port: 'AUTH_OTEL_EXPORTER_PULL_PORT',
      address: 'AUTH_OTEL_EXPORTER_PULL_HOST and AUTH_OTEL_EXPORTER_PULL_PORT',
    },
    collect: () => reader.collectFamilies(),
    log,
  })
  reader.listener = listener
  log.info(`Metrics on http://${listener.address}/metrics`)
  return reader
}

/** Collects the metrics when they are requested. */
export class PullReader extends MetricReader {
  /** Closed together with the reader. */
  listener: AsyncDisposable | undefined
  readonly #log: Log

  constructor(log: Log) {
    super()
    this.#log = log
  }

  async collectFamilies(): Promise<Families> {
    const { resourceMetrics } = await this.collect()
    return toFamilies(resourceMetrics, this.#log)
  }

  protected override async onForceFlush(): Promise<void> {}

  protected override async onShutdown(): Promise<void> {
    await this.listener?.[Symbol.asyncDispose]()
  }
}
