import { randomUUID } from 'node:crypto'
import {
  boolean,
  type Chapter,
  choice,
  integer,
  number,
  type Settings,
  string,
} from '@portcullis/service-kit/env'

const protocols = ['http', 'grpc'] as const

export const tracing = {
  title: 'Tracing (the OTEL_EXPORTER_OTLP_* variables and OTEL_RESOURCE_ATTRIBUTES apply too)',
  variables: {
    isEnabled: boolean('TRACING_ENABLED', false, 'Whether spans are sent over OTLP'),
    protocol: choice('TRACING_EXPORTER_PROTOCOL', protocols, 'http', 'How OTLP is spoken', {
      refuse: (text) =>
        `Invalid otlptrace client protocol: ${text}. It must be one of: ${protocols.join(', ')}`,
    }),
    serviceName: string('TRACING_SERVICE_NAME', 'RateLimit', 'service.name of the spans'),
    serviceNamespace: string('TRACING_SERVICE_NAMESPACE', '', 'service.namespace of the spans'),
    serviceInstanceId: string(
      'TRACING_SERVICE_INSTANCE_ID',
      '',
      'service.instance.id of the spans',
      { defaultText: 'a random UUID' },
    ),
    samplingRate: number(
      'TRACING_SAMPLING_RATE',
      1,
      'Part of the calls that is traced when the caller does not say',
      { min: 0, max: 1 },
    ),
    batchDelayMs: integer(
      'OTEL_BSP_SCHEDULE_DELAY',
      5_000,
      'Milliseconds after which spans are sent, also when they are few',
      { min: 1, max: 2 ** 31 - 1 },
    ),
    batchTimeoutMs: integer(
      'OTEL_BSP_EXPORT_TIMEOUT',
      30_000,
      'Milliseconds after which a batch of spans that is not sent yet is given up',
      { min: 1, max: 2 ** 31 - 1 },
    ),
    queueSize: integer(
      'OTEL_BSP_MAX_QUEUE_SIZE',
      2_048,
      'Spans that may wait to be sent; more are dropped',
      { min: 1 },
    ),
    // A quarter of OpenTelemetry's default: decisions wait while a batch is being encoded.
    batchSize: integer(
      'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
      128,
      'Spans that are sent together; at most OTEL_BSP_MAX_QUEUE_SIZE',
      { min: 1 },
    ),
    maxAttributeLength: integer(
      'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
      8_192,
      'Characters of an attribute of a span, such as the request; the rest is cut off',
      { min: 1, aliases: ['OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT'] },
    ),
  },
} satisfies Chapter

export interface TracingConfig {
  readonly protocol: (typeof protocols)[number]
  readonly serviceName: string
  readonly serviceNamespace: string
  readonly serviceInstanceId: string
  readonly samplingRate: number
  readonly batchDelayMs: number
  readonly batchTimeoutMs: number
  readonly queueSize: number
  readonly batchSize: number
  readonly maxAttributeLength: number
}

/** Undefined: no tracing. */
export function toTracing(settings: Settings<typeof tracing.variables>): TracingConfig | undefined {
  const { isEnabled, ...rest } = settings
  if (!isEnabled) return undefined
  return { ...rest, serviceInstanceId: rest.serviceInstanceId || randomUUID() }
}
