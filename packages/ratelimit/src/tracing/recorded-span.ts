import {
  type Attributes,
  type HrTime,
  type Link,
  type SpanContext,
  type SpanKind,
  type SpanStatus,
  SpanStatusCode,
} from '@opentelemetry/api'
import type { InstrumentationScope } from '@opentelemetry/core'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableSpan, TimedEvent } from '@opentelemetry/sdk-trace'

export interface SpanStart {
  readonly name: string
  readonly kind: SpanKind
  readonly context: SpanContext
  /** Undefined for the first span of a trace. */
  readonly parent: SpanContext | undefined
  readonly attributes: Attributes
  readonly startMs: number
  readonly resource: Resource
}

const instrumentationScope: InstrumentationScope = { name: 'ratelimit' }
const unset: SpanStatus = { code: SpanStatusCode.UNSET }
const unknownTime: HrTime = [0, 0]
const noLinks: Link[] = []
const noEvents: TimedEvent[] = []

/**
 * Contains only what an exporter needs of a span: the span of the SDK checks every attribute twice and takes
 * several times as long to create.
 */
export class RecordedSpan implements ReadableSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly context: SpanContext
  readonly parentSpanContext?: SpanContext
  attributes: Attributes
  status: SpanStatus = unset
  readonly startTime: HrTime
  endTime: HrTime = unknownTime
  ended = false
  readonly resource: Resource
  readonly instrumentationScope = instrumentationScope
  readonly links = noLinks
  readonly events = noEvents
  readonly droppedAttributesCount = 0
  readonly droppedEventsCount = 0
  readonly droppedLinksCount = 0
  readonly #startMs: number
  #endMs = 0

  constructor({ name, kind, context, parent, attributes, startMs, resource }: SpanStart) {
    this.name = name
    this.kind = kind
    this.context = context
    if (parent !== undefined) this.parentSpanContext = parent
    this.attributes = attributes
    this.startTime = toHrTime(startMs)
    this.resource = resource
    this.#startMs = startMs
  }

  /** @param endMs - raised to the start if the clock was set back in between */
  end(endMs: number): void {
    this.#endMs = Math.max(endMs, this.#startMs)
    this.endTime = toHrTime(this.#endMs)
    this.ended = true
  }

  spanContext(): SpanContext {
    return this.context
  }

  get duration(): HrTime {
    return toHrTime(this.#endMs - this.#startMs)
  }
}

function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.floor((ms - seconds * 1_000) * 1e6)]
}
