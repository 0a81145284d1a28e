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
import { RecordedSpan } from './recorded-span.ts'

export interface SpansSettings {
  readonly resource: Resource
  /** Gets the spans that have ended. */
  readonly processor: Pick<SpanProcessor, 'onEnd'>
}

/** What the first span of a trace belongs to. */
export const noParent: SpanContext = INVALID_SPAN_CONTEXT

/**
 * Where spans of one call find each other. A call that is traced is the current one while its
 * handler runs, which is until the store was asked; what comes later holds its span itself. An
 * AsyncLocalStorage would find it everywhere, and make every promise of the process dearer for it.
 */
export class Spans {
  /** What new spans belong to. Undefined: the present call is not traced. */
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

  /** Ends a span, as failed where there is an error. Nothing where it has ended already. */
  end(span: RecordedSpan, error?: unknown): void {
    if (span.ended) return
    if (error !== undefined) {
      const message = error instanceof Error ? error.message : String(error)
      span.status = { code: SpanStatusCode.ERROR, message }
    }
    span.end(this.#now())
    this.#settings.processor.onEnd(span)
  }

  /** Runs the work with new spans belonging to `context`. */
  run<T>(context: SpanContext | undefined, work: () => T): T {
    const outer = this.current
    this.current = context
    try {
      return work()
    } finally {
      this.current = outer
    }
  }

  /** The same with the span as what new ones belong to. What the work throws ends the span. */
  runIn<T>(span: RecordedSpan, work: () => T): T {
    try {
      return this.run(span.context, work)
    } catch (error) {
      this.end(span, error)
      throw error
    }
  }
}

/** How far the steady clock may be off before it is set again. */
const toleranceMs = 2

/**
 * Milliseconds since the epoch with what the system's clock lacks below one: most spans of ours are
 * shorter than that, and a span has to lie within its parent.
 */
function createClock(): () => number {
  let originMs = Date.now() - performance.now()
  return () => {
    const steadyMs = performance.now()
    const systemMs = Date.now()
    // Somebody may set the system's clock while we run.
    if (Math.abs(originMs + steadyMs - systemMs) > toleranceMs) originMs = systemMs - steadyMs
    return originMs + steadyMs
  }
}
