import { randomUUID } from 'node:crypto'
import {
  boolean,
  type Chapter,
  choice,
  number,
  type Settings,
  string,
} from '@portcullis/service-kit/env'

const protocols = ['http', 'grpc'] as const

export const tracing = {
  title: 'Tracing (the OTEL_EXPORTER_OTLP_* variables apply too)',
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
  },
} satisfies Chapter

export interface TracingConfig {
  readonly protocol: (typeof protocols)[number]
  readonly serviceName: string
  readonly serviceNamespace: string
  readonly serviceInstanceId: string
  readonly samplingRate: number
}

/** Undefined: no tracing. */
export function toTracing(settings: Settings<typeof tracing.variables>): TracingConfig | undefined {
  const { isEnabled, ...rest } = settings
  if (!isEnabled) return undefined
  return { ...rest, serviceInstanceId: rest.serviceInstanceId || randomUUID() }
}
