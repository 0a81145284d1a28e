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

/** The span that a call belongs to, maybe `noParent`; undefined for a call that is not traced. */
export type Sample<Carrier> = (carrier: Carrier) => SpanContext | undefined

export interface SamplingSettings<Carrier> {
  /** From 0 to 1: the part of the calls to trace whose caller does not say. */
  readonly rate: number
  /** The value of a header by its lower-case name. */
  readonly readHeader: (carrier: Carrier, name: string) => string | undefined
}

// Who sends both has them say the same; otherwise the last one counts, the W3C's.
const propagator = new CompositePropagator({
  propagators: [new B3Propagator(), new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
})

// The usual ways to say that a call is not to be traced. Whatever else is left to the propagator.
const refusedTraceParent =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f][02468ace]$/
const refusedB3 = /^(?!0+-)(?:[\da-f]{16}){1,2}-(?!0{16})[\da-f]{16}-0$/
const traceId = /^(?!0+$)(?:[\da-f]{16}){1,2}$/
const spanId = /^(?!0{16})[\da-f]{16}$/

/**
 * The caller decides where its headers are valid, otherwise chance: parent based, else a ratio of
 * the traces. Nearly every call is not to be traced, and must not pay for those that are: the
 * answer for it needs a few look-ups and a random number, and makes no object.
 */
export function createSample<Carrier>(settings: SamplingSettings<Carrier>): Sample<Carrier> {
  const { rate, readHeader } = settings
  const getter: TextMapGetter<Carrier> = { get: readHeader, keys: () => [] }

  const isRefusedByB3 = (carrier: Carrier, b3: string | undefined, b3TraceId: string): boolean => {
    // Where both are sent, the single header counts.
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
