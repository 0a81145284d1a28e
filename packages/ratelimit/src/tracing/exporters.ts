import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { TracingConfig } from '../config/tracing.ts'

/**
 * How OTLP is spoken. Each reads its endpoint, headers, TLS files, time limit and compression from
 * the OTEL_EXPORTER_OTLP_ variables; only the one that is asked for is loaded.
 */
export const exporters: Readonly<Record<TracingConfig['protocol'], () => Promise<SpanExporter>>> = {
  http: async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
    return new OTLPTraceExporter()
  },
  grpc: async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc')
    return new OTLPTraceExporter()
  },
}
