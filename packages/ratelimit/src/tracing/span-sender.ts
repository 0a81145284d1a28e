import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log } from '@portcullis/service-kit/log'
import type { TracingConfig } from '../config/tracing.ts'
import { ReportingExporter } from './reporting-exporter.ts'
import type { SpansSettings } from './spans.ts'

/** Sends spans away in batches. */
interface SpanSender extends SpansSettings, AsyncDisposable {
  /** Sends what waits, for 5 seconds at most. */
  flush(giveUp: AbortSignal): Promise<void>
}

/** As long as envoyproxy/ratelimit waits when it stops. */
const flushTimeoutMs = 5_000

/** What was made after the flush: calls that a stop had to cut off. */
const closeTimeoutMs = 500

export async function openSpanSender(config: TracingConfig, log: Log): Promise<SpanSender> {
  const exporter = new ReportingExporter(await openExporter(config), log)
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: config.batchDelayMs,
    exportTimeoutMillis: config.batchTimeoutMs,
    maxQueueSize: config.queueSize,
    maxExportBatchSize: Math.min(config.batchSize, config.queueSize),
  })
  let hasGivenUp = false
  return {
    resource: toResource(config),
    processor,
    async flush(giveUp) {
      const sent = processor
        .forceFlush()
        .catch(() => undefined)
        .then(() => exporter.forceFlush())
      hasGivenUp = !(await isDoneWithin(flushTimeoutMs, sent, giveUp))
      if (hasGivenUp) {
        log.warning('The last spans are lost: the collector did not take them in time')
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = processor.shutdown()
      await isDoneWithin(hasGivenUp ? 0 : closeTimeoutMs, closed)
    },
  }
}

async function openExporter({ protocol }: TracingConfig): Promise<SpanExporter> {
  try {
    return await exporters[protocol]()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `Tracing cannot start: ${reason}. Check the OTEL_EXPORTER_OTLP_ variables, such as ` +
        'OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318',
      { cause: error },
    )
  }
}

/** OTEL_RESOURCE_ATTRIBUTES adds to what the service says of itself. */
function toResource({ serviceName, serviceNamespace, serviceInstanceId }: TracingConfig): Resource {
  return defaultResource()
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector] }))
    .merge(
      resourceFromAttributes({
        'service.name': serviceName,
        ...(serviceNamespace !== '' && { 'service.namespace': serviceNamespace }),
        'service.instance.id': serviceInstanceId,
      }),
    )
}

/** Work that fails is done as well. */
async function isDoneWithin(
  timeoutMs: number,
  work: Promise<void>,
  giveUp?: AbortSignal,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const expire = () => resolve(false)
  const finish = () => resolve(true)
  work.then(finish, finish)
  const timer = setTimeout(expire, timeoutMs)
  if (giveUp?.aborted) expire()
  giveUp?.addEventListener('abort', expire, { once: true })
  const isDone = await promise
  clearTimeout(timer)
  giveUp?.removeEventListener('abort', expire)
  return isDone
}

/**
 * How OTLP is spoken. Each reads its endpoint, headers, TLS files, time limit and compression from
 * the OTEL_EXPORTER_OTLP_ variables; only the one that is asked for is loaded.
 */
const exporters: Readonly<Record<TracingConfig['protocol'], () => Promise<SpanExporter>>> = {
  http: async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
    return new OTLPTraceExporter()
  },
  grpc: async () => {
    const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-grpc')
    return new OTLPTraceExporter()
  },
}
