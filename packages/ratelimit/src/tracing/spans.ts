import {
  type Attributes,
  INVALID_SPAN_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import { RandomIdGenerator, type SpanProcessor } from '@opentelemetry/sdk-trace'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { RecordedSpan } from './recorded-span.ts'

export interface SpansSettings {
  readonly resource: Resource
  /** Receives the spans that have ended. */
  readonly processor: Pick<SpanProcessor, 'onEnd'>
}

/** The parent of the first span of a trace. */
export const noParent: SpanContext = INVALID_SPAN_CONTEXT

/**
 * Connects the spans of one call. A traced call is the current one while its handler runs, until the store
 * is called; later code keeps a reference to its span. An AsyncLocalStorage would work everywhere, but would
 * make every promise of the process more expensive.
 */
export class Spans {
  /** The parent of new spans; undefined if the current call is not traced. */
  current: SpanContext | undefined = undefined
  readonly #settings: SpansSettings
  readonly #ids = new RandomIdGenerator()
  readonly #now = createClock()

  constructor(settings: SpansSettings) {
    this.#settings = settings
  }

  start(
    name: string,
    parent: SpanContext,
    attributes: Attributes,
    kind: SpanKind = SpanKind.INTERNAL,
  ): RecordedSpan {
    const isFirst = parent === noParent
    const traceId = isFirst ? this.#ids.generateTraceId() : parent.traceId
    const { traceState } = parent
    const context: SpanContext = {
      traceId,
      spanId: this.#ids.generateSpanId(),
      traceFlags: TraceFlags.SAMPLED,
      ...(traceState && { traceState }),
    }
    const { resource } = this.#settings
    const startMs = this.#now()
    return new RecordedSpan({
      name,
      kind,
      context,
      parent: isFirst ? undefined : parent,
      attributes,
      startMs,
      resource,
    })
  }

  /** Ends a span, as failed if there is an error. Does nothing if it has already ended. */
  end(span: RecordedSpan, error?: unknown): void {
    if (span.ended) return
    if (error !== undefined) {
      span.status = { code: SpanStatusCode.ERROR, message: toMessage(error) }
    }
    span.end(this.#now())
    this.#settings.processor.onEnd(span)
  }

  /** Runs the work with `context` as the parent of new spans. */
  run<T>(context: SpanContext | undefined, work: () => T): T {
    const outer = this.current
    this.current = context
    try {
      return work()
    } finally {
      this.current = outer
    }
  }

  /** Runs the work with the span as the parent of new ones. If the work throws, the span ends. */
  runIn<T>(span: RecordedSpan, work: () => T): T {
    try {
      return this.run(span.context, work)
    } catch (error) {
      this.end(span, error)
      throw error
    }
  }
}

/** How far the monotonic clock may deviate before it is adjusted. */
const toleranceMs = 2

/**
 * Milliseconds since the epoch with fractions, which the system clock lacks: most spans are shorter than a
 * millisecond, and a span must be within its parent.
 */
function createClock(): () => number {
  let originMs = Date.now() - performance.now()
  return () => {
    const steadyMs = performance.now()
    const systemMs = Date.now()
    // The system clock may be set while the process runs.
    if (Math.abs(originMs + steadyMs - systemMs) > toleranceMs) originMs = systemMs - steadyMs
    return originMs + steadyMs
  }
}
