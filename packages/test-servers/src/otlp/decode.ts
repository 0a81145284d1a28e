import {
  decode,
  double,
  type Fields,
  fixed32,
  fixed64,
  flag,
  hex,
  integer,
  listOf,
  message,
  type Parts,
  packed,
  partOf,
  signed64,
  text,
} from './wire.ts'

const anyValue: Fields = {
  1: { name: 'value', kind: text },
  2: { name: 'value', kind: flag },
  3: { name: 'value', kind: integer },
  4: { name: 'value', kind: double },
}
const keyValue: Fields = {
  1: { name: 'key', kind: text },
  2: { name: 'value', kind: message(() => anyValue) },
}
const keyValues = message(() => keyValue)
const attributes = { name: 'attributes', kind: keyValues, isRepeated: true } as const
const resource: Fields = { 1: attributes, 2: { name: 'dropped', kind: integer } }
const scope: Fields = {
  1: { name: 'name', kind: text },
  2: { name: 'version', kind: text },
  3: attributes,
}

/** The envelope of spans and metrics is the same. */
const toRequest = (name: string, item: Fields): Fields => {
  const byScope: Fields = {
    1: { name: 'scope', kind: message(() => scope) },
    2: { name, kind: message(() => item), isRepeated: true },
    3: { name: 'schemaUrl', kind: text },
  }
  const byResource: Fields = {
    1: { name: 'resource', kind: message(() => resource) },
    2: { name: 'byScope', kind: message(() => byScope), isRepeated: true },
    3: { name: 'schemaUrl', kind: text },
  }
  return { 1: { name: 'byResource', kind: message(() => byResource), isRepeated: true } }
}

const status: Fields = { 2: { name: 'message', kind: text }, 3: { name: 'code', kind: integer } }
const spans = toRequest('spans', {
  1: { name: 'traceId', kind: hex },
  2: { name: 'spanId', kind: hex },
  3: { name: 'traceState', kind: text },
  4: { name: 'parentSpanId', kind: hex },
  5: { name: 'name', kind: text },
  6: { name: 'kind', kind: integer },
  7: { name: 'startNs', kind: fixed64 },
  8: { name: 'endNs', kind: fixed64 },
  9: attributes,
  10: { name: 'droppedAttributes', kind: integer },
  12: { name: 'droppedEvents', kind: integer },
  14: { name: 'droppedLinks', kind: integer },
  15: { name: 'status', kind: message(() => status) },
  16: { name: 'flags', kind: fixed32 },
})

const times: Fields = {
  2: { name: 'startNs', kind: fixed64 },
  3: { name: 'endNs', kind: fixed64 },
}
const numberPoint: Fields = {
  ...times,
  4: { name: 'value', kind: double },
  6: { name: 'value', kind: signed64 },
  7: attributes,
  8: { name: 'flags', kind: integer },
}
const histogramPoint: Fields = {
  ...times,
  4: { name: 'count', kind: fixed64 },
  5: { name: 'sum', kind: double },
  6: { name: 'counts', kind: packed(8, (bytes, at) => Number(bytes.readBigUInt64LE(at))) },
  7: { name: 'bounds', kind: packed(8, (bytes, at) => bytes.readDoubleLE(at)) },
  9: attributes,
  10: { name: 'flags', kind: integer },
  11: { name: 'min', kind: double },
  12: { name: 'max', kind: double },
}
const points = (fields: Fields) =>
  ({ name: 'points', kind: message(() => fields), isRepeated: true }) as const
const gauge: Fields = { 1: points(numberPoint) }
const sum: Fields = {
  1: points(numberPoint),
  2: { name: 'temporality', kind: integer },
  3: { name: 'isMonotonic', kind: flag },
}
const histogram: Fields = {
  1: points(histogramPoint),
  2: { name: 'temporality', kind: integer },
}
const metrics = toRequest('metrics', {
  1: { name: 'name', kind: text },
  2: { name: 'description', kind: text },
  3: { name: 'unit', kind: text },
  5: { name: 'gauge', kind: message(() => gauge) },
  7: { name: 'sum', kind: message(() => sum) },
  9: { name: 'histogram', kind: message(() => histogram) },
})

export type Attributes = Readonly<Record<string, unknown>>

export interface CollectedSpan {
  readonly name: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly attributes: Attributes
  /** 0 unset, 1 ok, 2 error. */
  readonly statusCode: number
  readonly statusMessage: string
  readonly startNs: bigint
  readonly endNs: bigint
  readonly scope: string
  readonly resource: Attributes
}

export interface CollectedPoint {
  readonly metric: string
  readonly kind: 'gauge' | 'sum' | 'histogram'
  readonly unit: string
  readonly attributes: Attributes
  /** For a histogram, the number of values. */
  readonly value: number
  readonly scope: string
  readonly resource: Attributes
}

interface Item {
  readonly item: Parts
  /** The scope and the resource that it belongs to. */
  readonly origin: { readonly scope: string; readonly resource: Attributes }
}

function* itemsOf(parts: Parts, name: string): Generator<Item> {
  for (const byResource of listOf(parts, 'byResource')) {
    const from = toAttributes(partOf(byResource, 'resource'))
    for (const byScope of listOf(byResource, 'byScope')) {
      const origin = { scope: String(partOf(byScope, 'scope')['name']), resource: from }
      for (const item of listOf(byScope, name)) yield { item, origin }
    }
  }
}

/** Every span of an `ExportTraceServiceRequest`. Throws on anything that OTLP does not allow. */
export function decodeSpans(bytes: Buffer): CollectedSpan[] {
  return [...itemsOf(decode(bytes, spans), 'spans')].map(({ item, origin }) => {
    const { traceId, spanId, parentSpanId = '', name, kind, startNs, endNs } = item
    const { message: statusMessage = '', code = 0 } = partOf(item, 'status')
    if (!/^(?!0+$)[\da-f]{32}$/.test(String(traceId))) throw new Error('the trace id is invalid')
    if (!/^(?!0+$)[\da-f]{16}$/.test(String(spanId))) throw new Error('the span id is invalid')
    if (typeof startNs !== 'bigint' || typeof endNs !== 'bigint') throw new Error('no times')
    if (endNs < startNs) throw new Error(`${name} ends before it starts`)
    return {
      name: String(name),
      kind: Number(kind),
      traceId: String(traceId),
      spanId: String(spanId),
      parentSpanId: String(parentSpanId),
      traceState: String(item['traceState'] ?? ''),
      attributes: toAttributes(item),
      statusCode: Number(code),
      statusMessage: String(statusMessage),
      startNs,
      endNs,
      ...origin,
    }
  })
}

/** Every point of an `ExportMetricsServiceRequest`. Throws on anything that OTLP does not allow. */
export function decodePoints(bytes: Buffer): CollectedPoint[] {
  return [...itemsOf(decode(bytes, metrics), 'metrics')].flatMap(({ item, origin }) => {
    const kinds = (['gauge', 'sum', 'histogram'] as const).filter((name) => name in item)
    const [kind] = kinds
    if (kind === undefined || kinds.length > 1)
      throw new Error(`${item['name']}: must have exactly one kind`)
    return listOf(partOf(item, kind), 'points').map((point) => ({
      metric: String(item['name']),
      kind,
      unit: String(item['unit'] ?? ''),
      attributes: toAttributes(point),
      value: Number(point['value'] ?? point['count']),
      ...origin,
    }))
  })
}

function toAttributes(parts: Parts): Attributes {
  return Object.fromEntries(
    listOf(parts, 'attributes').map((each) => [each['key'], partOf(each, 'value')['value']]),
  )
}
