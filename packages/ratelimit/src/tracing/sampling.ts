import {
  isSpanContextValid,
  ROOT_CONTEXT,
  type SpanContext,
  type TextMapGetter,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core'
import { B3Propagator } from '@opentelemetry/propagator-b3'
import { noParent } from './spans.ts'

/** Returns the parent span of a call, which may be `noParent`; undefined for a call that is not traced. */
export type Sample<Carrier> = (carrier: Carrier) => SpanContext | undefined

export interface SamplingSettings<Carrier> {
  /** From 0 to 1: the fraction of calls without a sampling decision of the caller that are traced. */
  readonly rate: number
  /** The value of a header by its lower-case name. */
  readonly readHeader: (carrier: Carrier, name: string) => string | undefined
}

// If both are sent and differ, the last one wins, which is the W3C's.
const propagator = new CompositePropagator({
  propagators: [new B3Propagator(), new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
})

// The usual forms of a negative sampling decision. The propagator handles everything else.
const refusedTraceParent =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f][02468ace]$/
const refusedB3 = /^(?!0+-)(?:[\da-f]{16}){1,2}-(?!0{16})[\da-f]{16}-0$/
const traceId = /^(?!0+$)(?:[\da-f]{16}){1,2}$/
const spanId = /^(?!0{16})[\da-f]{16}$/

/**
 * Parent-based sampling: valid headers of the caller decide, otherwise a random fraction is traced. Most
 * calls are not traced and must not pay for those that are: they need only a few lookups and a random
 * number, without any allocation.
 */
export function createSample<Carrier>(settings: SamplingSettings<Carrier>): Sample<Carrier> {
  const { rate, readHeader } = settings
  const getter: TextMapGetter<Carrier> = { get: readHeader, keys: () => [] }

  const isRefusedByB3 = (carrier: Carrier, b3: string | undefined, b3TraceId: string): boolean => {
    // If both are sent, the single header wins.
    if (b3 !== undefined && b3 !== '') return refusedB3.test(b3)
    return (
      readHeader(carrier, 'x-b3-sampled') === '0' &&
      traceId.test(b3TraceId) &&
      spanId.test(readHeader(carrier, 'x-b3-spanid') ?? '') &&
      readHeader(carrier, 'x-b3-flags') !== '1'
    )
  }

  return (carrier) => {
    const traceParent = readHeader(carrier, 'traceparent')
    const b3 = readHeader(carrier, 'b3')
    const b3TraceId = readHeader(carrier, 'x-b3-traceid')
    const hasB3 = b3 !== undefined || b3TraceId !== undefined
    if (traceParent === undefined) {
      if (!hasB3) return Math.random() < rate ? noParent : undefined
      if (isRefusedByB3(carrier, b3, b3TraceId ?? '')) return undefined
    } else if (!hasB3 && refusedTraceParent.test(traceParent)) {
      return undefined
    }
    const context = propagator.extract(ROOT_CONTEXT, carrier, getter)
    const parent = trace.getSpanContext(context)
    if (parent === undefined || !isSpanContextValid(parent)) {
      return Math.random() < rate ? noParent : undefined
    }
    return (parent.traceFlags & TraceFlags.SAMPLED) !== 0 ? parent : undefined
  }
}
