import { randomUUID } from 'node:crypto'
import {
  boolean,
  type Chapter,
  choice,
  integer,
  number,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'

const protocols = ['http', 'grpc'] as const

export const tracing = {
  title: 'Tracing (OTEL_EXPORTER_OTLP_* and OTEL_RESOURCE_ATTRIBUTES apply too)',
  variables: {
    isEnabled: boolean('TRACING_ENABLED', false, 'Whether spans are sent over OTLP'),
    protocol: choice(
      'TRACING_EXPORTER_PROTOCOL',
      protocols,
      'http',
      'Transport protocol for OTLP',
      {
        refuse: (text) =>
          `Invalid otlptrace client protocol: ${text}. It must be one of: ${protocols.join(', ')}`,
      },
    ),
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
      'Fraction of calls that are traced when the caller has made no sampling decision',
      { min: 0, max: 1 },
    ),
    batchDelayMs: integer(
      'OTEL_BSP_SCHEDULE_DELAY',
      5_000,
      'Maximum delay before spans are sent, in milliseconds',
      { min: 1, max: 2 ** 31 - 1 },
    ),
    batchTimeoutMs: integer(
      'OTEL_BSP_EXPORT_TIMEOUT',
      30_000,
      'Timeout for sending a batch of spans, in milliseconds; the batch is then dropped',
      { min: 1, max: 2 ** 31 - 1 },
    ),
    queueSize: integer(
      'OTEL_BSP_MAX_QUEUE_SIZE',
      2_048,
      'Maximum number of spans that wait to be sent; further spans are dropped',
      { min: 1 },
    ),
    // A quarter of OpenTelemetry's default, because encoding a batch delays decisions.
    batchSize: integer(
      'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
      128,
      'Maximum number of spans in a batch; at most OTEL_BSP_MAX_QUEUE_SIZE',
      { min: 1 },
    ),
    maxAttributeLength: integer(
      'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
      8_192,
      'Maximum length of a span attribute, such as the request; longer values are truncated',
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

/** Returns undefined when tracing is disabled. */
export function toTracing(settings: Settings<typeof tracing.variables>): TracingConfig | undefined {
  const { isEnabled, ...rest } = settings
  if (!isEnabled) return undefined
  return { ...rest, serviceInstanceId: rest.serviceInstanceId || randomUUID() }
}
