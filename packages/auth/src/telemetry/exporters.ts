import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { OpenTelemetryConfig } from '../config/open-telemetry.ts'
import { findTemporality, toGrpcOptions, toHttpOptions } from './otlp-options.ts'

type Protocol = OpenTelemetryConfig['tracesProtocol']

type Variables = OpenTelemetryConfig['variables']

/** Exporters by OTLP transport; only the one in use is loaded. */
const spanExporters: Readonly<Record<Protocol, (from: Variables) => Promise<SpanExporter>>> = {
  'http/protobuf': async (variables) => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
    return new OTLPTraceExporter(toHttpOptions(variables, 'TRACES'))
  },
  grpc: async (variables) => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc')
    return new OTLPTraceExporter(toGrpcOptions(variables, 'TRACES'))
  },
}

const metricExporters: Readonly<
  Record<Protocol, (from: Variables) => Promise<PushMetricExporter>>
> = {
  'http/protobuf': async (variables) => {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto')
    const temporalityPreference = findTemporality(variables)
    return new OTLPMetricExporter({ ...toHttpOptions(variables, 'METRICS'), temporalityPreference })
  },
  grpc: async (variables) => {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-grpc')
    const temporalityPreference = findTemporality(variables)
    return new OTLPMetricExporter({ ...toGrpcOptions(variables, 'METRICS'), temporalityPreference })
  },
}

export function openSpanExporter(config: OpenTelemetryConfig): Promise<SpanExporter> {
  return open('Tracing', () => spanExporters[config.tracesProtocol](config.variables))
}

export function openMetricExporter(config: OpenTelemetryConfig): Promise<PushMetricExporter> {
  return open('The export of metrics', () =>
    metricExporters[config.metricsProtocol](config.variables),
  )
}

async function open<Exporter>(what: string, load: () => Promise<Exporter>): Promise<Exporter> {
  try {
    return await load()
  } catch (error) {
    const reason = toMessage(error)
    throw new Error(
      `${what} cannot start: ${reason}. Check the OTEL_EXPORTER_OTLP_ variables, such as ` +
        'OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318',
      { cause: error },
    )
  }
}
