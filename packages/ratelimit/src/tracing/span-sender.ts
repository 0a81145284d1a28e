import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log } from '@portcullis/service-kit/log/log'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { TracingConfig } from '../config/tracing.ts'
import { ReportingExporter } from './reporting-exporter.ts'
import type { SpansSettings } from './spans.ts'

/** Sends spans in batches. */
interface SpanSender extends SpansSettings, AsyncDisposable {
  /** Sends the queued spans, for 5 seconds at most. */
  flush(giveUp: AbortSignal): Promise<void>
}

/** The same timeout as in envoyproxy/ratelimit. */
const flushTimeoutMs = 5_000

/** The timeout for spans that were created after the flush, by calls that were aborted at shutdown. */
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
        log.warning('The last spans are lost: the collector did not accept them in time')
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
    const reason = toMessage(error)
    throw new Error(
      `Tracing cannot start: ${reason}. Check the OTEL_EXPORTER_OTLP_ variables, such as ` +
        'OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318',
      { cause: error },
    )
  }
}

/** OTEL_RESOURCE_ATTRIBUTES adds to the attributes of the service. */
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

/** Work that fails also counts as done. */
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
 * Exporters by protocol. Each reads its endpoint, headers, TLS files, timeout and compression from the
 * OTEL_EXPORTER_OTLP_ variables; only the selected one is loaded.
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
