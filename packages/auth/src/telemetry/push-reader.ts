import {
  AggregationTemporality,
  AggregationType,
  type MetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { openMetricExporter } from './exporters.ts'
import { createReport } from './reporting.ts'
import type { SdkSettings } from './telemetry.ts'
import { apartFromCall } from './watched-call.ts'

/** Pushes the metrics to a collector periodically. */
export async function openPushReader({ config, log }: SdkSettings): Promise<MetricReader> {
  const { metricIntervalMs } = config.openTelemetry
  const exporter = await openMetricExporter(config.openTelemetry)
  const report = createReport('Metrics', log)
  return new PeriodicExportingMetricReader({
    exporter: {
      export: (metrics, done) => apartFromCall(() => exporter.export(metrics, report(done))),
      forceFlush: () => exporter.forceFlush(),
      shutdown: () => exporter.shutdown(),
      selectAggregation: (type) =>
        exporter.selectAggregation?.(type) ?? { type: AggregationType.DEFAULT },
      // OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE.
      selectAggregationTemporality: (type) =>
        exporter.selectAggregationTemporality?.(type) ?? AggregationTemporality.CUMULATIVE,
    },
    exportIntervalMillis: metricIntervalMs,
    exportTimeoutMillis: Math.min(30_000, metricIntervalMs),
  })
}
