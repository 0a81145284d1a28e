import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { OpenTelemetryConfig } from '../config/open-telemetry.ts'

type Protocol = OpenTelemetryConfig['tracesProtocol']

/**
 * How OTLP is spoken. Each reads its endpoint, headers, TLS files, time limit and compression from
 * the OTEL_EXPORTER_OTLP_ variables; only the one that is asked for is loaded.
 */
const spanExporters: Readonly<Record<Protocol, () => Promise<SpanExporter>>> = {
  'http/protobuf': async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
    return new OTLPTraceExporter()
  },
  grpc: async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc')
    return new OTLPTraceExporter()
  },
}

const metricExporters: Readonly<Record<Protocol, () => Promise<PushMetricExporter>>> = {
  'http/protobuf': async () => {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto')
    return new OTLPMetricExporter()
  },
  grpc: async () => {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-grpc')
    return new OTLPMetricExporter()
  },
}

export function openSpanExporter(protocol: Protocol): Promise<SpanExporter> {
  return open('Tracing', spanExporters[protocol])
}

export function openMetricExporter(protocol: Protocol): Promise<PushMetricExporter> {
  return open('The push of metrics', metricExporters[protocol])
}

async function open<Exporter>(what: string, load: () => Promise<Exporter>): Promise<Exporter> {
  try {
    return await load()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `${what} cannot start: ${reason}. Check the OTEL_EXPORTER_OTLP_ variables, such as ` +
        'OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318',
      { cause: error },
    )
  }
}
