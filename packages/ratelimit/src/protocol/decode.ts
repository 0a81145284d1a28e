import type { Descriptor, Entry, LimitOverride, RateLimitRequest } from './message.ts'
import { descriptor, entry, override, request, uint64Value } from './tags.ts'
import { WireReader } from './wire-reader.ts'

const reader = new WireReader()

/** Decodes the `RateLimitRequest` between `start` and `end`, or throws a `DecodeError`. */
export function decodeRequest(buffer: Buffer, start: number, end: number): RateLimitRequest {
  reader.open(buffer, start, end)
  let domain = ''
  const descriptors: Descriptor[] = []
  let hitsAddend = 0
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === request.descriptors) descriptors.push(decodeDescriptor())
    else if (tag === request.domain) domain = reader.readName()
    else if (tag === request.hitsAddend) hitsAddend = reader.readUint32()
    else reader.skip(tag)
  }
  return { domain, descriptors, hitsAddend }
}

function decodeDescriptor(): Descriptor {
  const entries: Entry[] = []
  let limit: LimitOverride | undefined
  let hitsAddend: number | undefined
  let isNegativeHits = false
  const outerEnd = reader.enter()
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === descriptor.entries) entries.push(decodeEntry())
    else if (tag === descriptor.limit) limit = decodeOverride(limit)
    else if (tag === descriptor.hitsAddend) hitsAddend = decodeUint64Value(hitsAddend)
    else if (tag === descriptor.isNegativeHits) isNegativeHits = reader.readBool()
    else reader.skip(tag)
  }
  reader.leave(outerEnd)
  return { entries, limit, hitsAddend, isNegativeHits }
}

function decodeEntry(): Entry {
  let key = ''
  let value = ''
  const outerEnd = reader.enter()
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === entry.key) key = reader.readName()
    else if (tag === entry.value) value = reader.readString()
    else reader.skip(tag)
  }
  reader.leave(outerEnd)
  return { key, value }
}

/** Protobuf merges a message field that occurs twice but is not a list, here and below. */
function decodeOverride(earlier: LimitOverride | undefined): LimitOverride {
  let requestsPerUnit = earlier?.requestsPerUnit ?? 0
  let unit = earlier?.unit ?? 0
  const outerEnd = reader.enter()
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === override.requestsPerUnit) requestsPerUnit = reader.readUint32()
    else if (tag === override.unit) unit = reader.readInt32()
    else reader.skip(tag)
  }
  reader.leave(outerEnd)
  return { requestsPerUnit, unit }
}

function decodeUint64Value(earlier: number | undefined): number {
  let value = earlier ?? 0
  const outerEnd = reader.enter()
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === uint64Value.value) value = reader.readUint64()
    else reader.skip(tag)
  }
  reader.leave(outerEnd)
  return value
}
