import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  type Chapter,
  choice,
  type Environment,
  integer,
  number,
  type Settings,
  string,
  type Variables,
  withAlias,
} from '@portcullis/service-kit/settings/env'
import { withOldNames } from './variables.ts'

const protocols = ['http/protobuf', 'grpc'] as const
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
const longestMs = 2 ** 31 - 1

/** The variable names of OpenTelemetry are accepted as well as those with our prefix. */
const withStandardNames = <V extends Variables>(variables: V): V =>
  withOldNames(withAlias(variables, (name) => name.replace(/^AUTH_/, '')))

export const openTelemetry = {
  title: 'OpenTelemetry (its standard OTEL_EXPORTER_OTLP_* variables apply too)',
  variables: withStandardNames({
    protocol: choice(
      'AUTH_OTEL_EXPORTER_OTLP_PROTOCOL',
      protocols,
      'http/protobuf',
      'OTLP transport to the collector',
    ),
    tracesProtocol: choice(
      'AUTH_OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
      ['same', ...protocols],
      'same',
      'OTLP transport for traces; same: the value of OTEL_EXPORTER_OTLP_PROTOCOL',
    ),
    metricsProtocol: choice(
      'AUTH_OTEL_EXPORTER_OTLP_METRICS_PROTOCOL',
      ['same', ...protocols],
      'same',
      'OTLP transport for metrics; same: the value of OTEL_EXPORTER_OTLP_PROTOCOL',
    ),
    sampler: choice(
      'AUTH_OTEL_TRACES_SAMPLER',
      samplers,
      'parentbased_always_on',
      'Which requests are traced',
    ),
    samplerPart: number(
      'AUTH_OTEL_TRACES_SAMPLER_ARG',
      1,
      'Fraction of requests that the traceidratio samplers select',
      { min: 0, max: 1 },
    ),
    spanDelayMs: integer(
      'AUTH_OTEL_BSP_SCHEDULE_DELAY',
      5_000,
      'Maximum delay in milliseconds before spans are sent',
      { min: 1, max: longestMs },
    ),
    spanQueueSize: integer(
      'AUTH_OTEL_BSP_MAX_QUEUE_SIZE',
      2_048,
      'Maximum number of spans queued for sending; further spans are dropped',
      { min: 1 },
    ),
    metricIntervalMs: integer(
      'AUTH_OTEL_METRIC_EXPORT_INTERVAL',
      60_000,
      'Interval in milliseconds between two pushes of the metrics',
      { min: 1, max: longestMs },
    ),
    serviceName: string('AUTH_OTEL_SERVICE_NAME', '', 'service.name of spans and metrics', {
      defaultText: 'auth',
    }),
    resourceAttributes: string(
      'AUTH_OTEL_RESOURCE_ATTRIBUTES',
      '',
      'Additional resource attributes of spans and metrics: key=value,key=value',
    ),
    debug: string('AUTH_DEBUG', '', 'true: log diagnostics of OpenTelemetry', {
      defaultText: 'false',
    }),
  }),
} satisfies Chapter

export interface OpenTelemetryConfig {
  readonly tracesProtocol: (typeof protocols)[number]
  readonly metricsProtocol: (typeof protocols)[number]
  readonly sampler: (typeof samplers)[number]
  readonly samplerPart: number
  readonly spanDelayMs: number
  readonly spanQueueSize: number
  readonly metricIntervalMs: number
  /** If empty, OTEL_RESOURCE_ATTRIBUTES may set the service name. */
  readonly serviceName: string
  readonly isVerbose: boolean
  /** Other OpenTelemetry variables by their standard names, from any source. */
  readonly variables: Readonly<Record<string, string>>
}

/** @param sources the environment, then files. */
export function toOpenTelemetry(
  settings: Settings<typeof openTelemetry.variables>,
  sources: readonly Environment[],
  check: Check,
): OpenTelemetryConfig {
  checkAttributes(settings.resourceAttributes, check)
  const { protocol, tracesProtocol, metricsProtocol } = settings
  const { sampler, samplerPart, spanDelayMs, spanQueueSize, metricIntervalMs } = settings
  return {
    tracesProtocol: tracesProtocol === 'same' ? protocol : tracesProtocol,
    metricsProtocol: metricsProtocol === 'same' ? protocol : metricsProtocol,
    sampler,
    samplerPart,
    spanDelayMs,
    spanQueueSize,
    metricIntervalMs,
    serviceName: settings.serviceName,
    // Other programs read DEBUG as well and use other values.
    isVerbose: /^(?:1|t|true)$/i.test(settings.debug),
    variables: {
      ...findExporterVariables(sources),
      OTEL_RESOURCE_ATTRIBUTES: settings.resourceAttributes,
    },
  }
}

/** The SDK silently ignores all attributes if one of them is malformed. */
function checkAttributes(text: string, check: Check): void {
  const wrong = text.split(',').find((pair) => pair.trim() !== '' && !isAttribute(pair))
  if (wrong === undefined) return
  const name = check.nameOf(openTelemetry.variables.resourceAttributes)
  check.note(
    `${name} has no effect: "${wrong.trim()}" is not key=value, with %2C for a comma, %3D for = and %25 for %`,
  )
}

function isAttribute(pair: string): boolean {
  const isEncoded = !/%(?![\da-f]{2})/i.test(pair)
  return isEncoded && /^[^=]*[^=\s][^=]*=[^=]*$/.test(pair)
}

/** Later prefixes override earlier ones. */
const prefixes = ['GOTRUE_', '', 'AUTH_']

/** Finds the variables for endpoints, headers, certificates, timeouts and compression. */
function findExporterVariables(sources: readonly Environment[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (const source of sources.toReversed()) {
    for (const prefix of prefixes) {
      for (const [name, value] of Object.entries(source)) {
        if (name.startsWith(`${prefix}OTEL_EXPORTER_OTLP_`) && value) {
          found[name.slice(prefix.length)] = value
        }
      }
    }
  }
  return found
}
