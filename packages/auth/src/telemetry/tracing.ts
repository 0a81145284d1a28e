import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { toCode } from '@portcullis/service-kit/text/reason'
import type { OpenTelemetryConfig } from '../config/open-telemetry.ts'
import type { StatementEnded } from '../db/database.ts'
import { openSpanExporter } from './exporters.ts'
import { traceOutgoing } from './outgoing.ts'
import { closeSoon, createReport, flushInTime } from './reporting.ts'
import type { SdkSettings } from './telemetry.ts'
import { apartFromCall, type CallWatch, currentCall, type WatchedCall } from './watched-call.ts'

export interface Tracing extends AsyncDisposable {
  readonly calls: CallWatch
  readonly watchStatement: (name: string) => StatementEnded
  flush(giveUp: AbortSignal): Promise<void>
}

export async function openTracing({
  config,
  version,
  log,
  resource,
}: SdkSettings): Promise<Tracing> {
  const { openTelemetry } = config
  const exporter = await openSpanExporter(openTelemetry)
  const report = createReport('Spans', log)
  const processor = new BatchSpanProcessor({
    exporter: {
      // The export itself must not be traced.
      export: (spans, done) => apartFromCall(() => exporter.export(spans, report(done))),
      forceFlush: async () => await exporter.forceFlush?.(),
      shutdown: () => exporter.shutdown(),
    },
    scheduledDelayMillis: openTelemetry.spanDelayMs,
    maxQueueSize: openTelemetry.spanQueueSize,
    maxExportBatchSize: Math.min(128, openTelemetry.spanQueueSize),
  })
  const provider = new TracerProvider({
    resource,
    sampler: toSampler(openTelemetry),
    spanProcessors: [processor],
    spanLimits: { attributeValueLengthLimit: 1_024 },
  })
  const tracer = provider.getTracer('auth', version)
  const outgoing = traceOutgoing(tracer, propagator)
  return {
    calls: { begin: (call) => beginCall(tracer, call) },
    watchStatement: (name) => beginStatement(tracer, name),
    flush: (giveUp) => flushInTime('spans', provider.forceFlush(), giveUp, log),
    async [Symbol.asyncDispose]() {
      outgoing[Symbol.dispose]()
      await closeSoon(provider.shutdown())
    },
  }
}

const propagator = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
})
const headers: TextMapGetter<WatchedCall> = {
  get: (call, name) => call.header(name),
  keys: () => [],
}

/** Uses the span and attribute names of Supabase Auth. */
function beginCall(tracer: Tracer, call: WatchedCall): () => void {
  const { method, route } = call
  const attributes: Attributes = { 'http.method': method, 'http.route': route }
  for (const [name, value] of Object.entries(call.params)) {
    attributes[`http.route.params.${name}`] = value
  }
  const parent = propagator.extract(ROOT_CONTEXT, call, headers)
  const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent)
  call.context = trace.setSpan(parent, span)
  if (span.isRecording()) call.traceId = span.spanContext().traceId
  return () => {
    span.setAttribute('http.status_code', call.status)
    if (call.failure !== undefined) span.setAttribute('error.type', call.failure.code)
    if (call.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }
}

const ignore = () => {}

/**
 * Records the name of a statement, but neither its text nor its values, and no error that could
 * quote them.
 */
function beginStatement(tracer: Tracer, name: string): StatementEnded {
  const context = currentCall.getStore()?.context
  if (context === undefined) return ignore
  const options = { kind: SpanKind.CLIENT, attributes: databaseAttributes }
  const span = tracer.startSpan(name, options, context)
  return (error) => {
    if (error !== undefined) failStatement(span, error)
    span.end()
  }
}

const databaseAttributes: Attributes = { 'db.system.name': 'postgresql' }

function failStatement(span: Span, error: unknown): void {
  const code = toCode(error)
  if (code !== '') span.setAttribute('db.response.status_code', code)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Creates the sampler for OTEL_TRACES_SAMPLER. */
function toSampler({ sampler, samplerPart }: OpenTelemetryConfig): Sampler {
  const [, isParentBased, kind = ''] = /^(parentbased_)?(.+)$/.exec(sampler) ?? []
  const root = rootSamplers[kind]?.(samplerPart) ?? new AlwaysOnSampler()
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

const rootSamplers: Readonly<Record<string, (part: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (part) => new TraceIdRatioBasedSampler(part),
}
