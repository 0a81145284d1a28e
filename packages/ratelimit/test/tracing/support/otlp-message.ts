import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** Decodes one field; throws at a wire type that does not belong to it. */
type Decode = (reader: BinaryReader, wireType: WireType) => unknown

interface Field {
  readonly name: string
  readonly decode: Decode
  readonly isRepeated?: true
}

/** By number. A field that is not here is a fault: OTLP has no others. */
type Fields = Readonly<Record<number, Field>>

function reading(wireType: WireType, read: (reader: BinaryReader) => unknown): Decode {
  return (reader, actual) => {
    if (actual !== wireType) throw new Error(`wire type ${actual} in place of ${wireType}`)
    return read(reader)
  }
}

const text = reading(WireType.LengthDelimited, (reader) => {
  const bytes = reader.bytes()
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
})
const hex = reading(WireType.LengthDelimited, (reader) =>
  Buffer.from(reader.bytes()).toString('hex'),
)
const flag = reading(WireType.Varint, (reader) => reader.bool())
const integer = reading(WireType.Varint, (reader) => Number(reader.int64()))
const count = reading(WireType.Varint, (reader) => reader.uint32())
const double = reading(WireType.Bit64, (reader) => reader.double())
const nanoseconds = reading(WireType.Bit64, (reader) => BigInt(reader.fixed64()))
const bits = reading(WireType.Bit32, (reader) => reader.fixed32())
const message = (fields: () => Fields): Decode =>
  reading(WireType.LengthDelimited, (reader) => decode(reader.bytes(), fields()))

function decode(bytes: Uint8Array, fields: Fields): Record<string, unknown> {
  const reader = new BinaryReader(bytes)
  const found: Record<string, unknown> = {}
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag()
    const field = fields[number]
    if (field === undefined) throw new Error(`field ${number} is not known`)
    const value = field.decode(reader, wireType)
    if (field.isRepeated) {
      const list = found[field.name]
      found[field.name] = Array.isArray(list) ? [...list, value] : [value]
    } else {
      if (field.name in found) throw new Error(`${field.name} comes twice`)
      found[field.name] = value
    }
  }
  return found
}

const anyValue: Fields = {
  1: { name: 'value', decode: text },
  2: { name: 'value', decode: flag },
  3: { name: 'value', decode: integer },
  4: { name: 'value', decode: double },
}
const keyValue: Fields = {
  1: { name: 'key', decode: text },
  2: { name: 'value', decode: message(() => anyValue) },
}
const attributes: Field = { name: 'attributes', decode: message(() => keyValue), isRepeated: true }
const resource: Fields = { 1: attributes, 2: { name: 'droppedAttributes', decode: count } }
const scope: Fields = {
  1: { name: 'name', decode: text },
  2: { name: 'version', decode: text },
  3: attributes,
}
const status: Fields = {
  2: { name: 'message', decode: text },
  3: { name: 'code', decode: count },
}
const span: Fields = {
  1: { name: 'traceId', decode: hex },
  2: { name: 'spanId', decode: hex },
  3: { name: 'traceState', decode: text },
  4: { name: 'parentSpanId', decode: hex },
  5: { name: 'name', decode: text },
  6: { name: 'kind', decode: count },
  7: { name: 'startNs', decode: nanoseconds },
  8: { name: 'endNs', decode: nanoseconds },
  9: attributes,
  10: { name: 'droppedAttributes', decode: count },
  12: { name: 'droppedEvents', decode: count },
  14: { name: 'droppedLinks', decode: count },
  15: { name: 'status', decode: message(() => status) },
  16: { name: 'flags', decode: bits },
}
const scopeSpans: Fields = {
  1: { name: 'scope', decode: message(() => scope) },
  2: { name: 'spans', decode: message(() => span), isRepeated: true },
  3: { name: 'schemaUrl', decode: text },
}
const resourceSpans: Fields = {
  1: { name: 'resource', decode: message(() => resource) },
  2: { name: 'scopeSpans', decode: message(() => scopeSpans), isRepeated: true },
  3: { name: 'schemaUrl', decode: text },
}
const request: Fields = {
  1: { name: 'resourceSpans', decode: message(() => resourceSpans), isRepeated: true },
}

export type Attributes = Readonly<Record<string, unknown>>

export interface CollectedSpan {
  readonly name: string
  /** 1 internal, 2 server. */
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
  readonly resource: Attributes
  readonly scope: string
}

/** Every span of an `ExportTraceServiceRequest`. Throws at whatever OTLP does not allow. */
export function decodeSpans(bytes: Uint8Array): CollectedSpan[] {
  const spans: CollectedSpan[] = []
  for (const byResource of listOf(decode(bytes, request), 'resourceSpans')) {
    const about = toAttributes(partOf(byResource, 'resource'))
    for (const byScope of listOf(byResource, 'scopeSpans')) {
      const name = String(partOf(byScope, 'scope')['name'])
      for (const each of listOf(byScope, 'spans')) spans.push(toSpan(each, about, name))
    }
  }
  return spans
}

type Parts = Readonly<Record<string, unknown>>

function toSpan(parts: Parts, resource: Attributes, scope: string): CollectedSpan {
  const { traceId, spanId, parentSpanId = '', name, kind, startNs, endNs } = parts
  const { message = '', code = 0 } = partOf(parts, 'status')
  if (!/^(?!0+$)[\da-f]{32}$/.test(String(traceId))) throw new Error('no valid trace id')
  if (!/^(?!0+$)[\da-f]{16}$/.test(String(spanId))) throw new Error('no valid span id')
  if (typeof startNs !== 'bigint' || typeof endNs !== 'bigint') throw new Error('no times')
  if (endNs < startNs) throw new Error(`${name} ends before it starts`)
  return {
    name: String(name),
    kind: Number(kind),
    traceId: String(traceId),
    spanId: String(spanId),
    parentSpanId: String(parentSpanId),
    traceState: String(parts['traceState'] ?? ''),
    attributes: toAttributes(parts),
    statusCode: Number(code),
    statusMessage: String(message),
    startNs,
    endNs,
    resource,
    scope,
  }
}

function toAttributes(parts: Parts): Attributes {
  return Object.fromEntries(
    listOf(parts, 'attributes').map((each) => [each['key'], partOf(each, 'value')['value']]),
  )
}

function listOf(parts: Parts, name: string): readonly Parts[] {
  const list = parts[name] ?? []
  if (!Array.isArray(list)) throw new Error(`${name} is no list`)
  return list
}

function partOf(parts: Parts, name: string): Parts {
  const part = parts[name] ?? {}
  if (!isParts(part)) throw new Error(`${name} is no message`)
  return part
}

function isParts(value: unknown): value is Parts {
  return typeof value === 'object' && value !== null
}
