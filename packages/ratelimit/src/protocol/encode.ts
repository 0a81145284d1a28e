import type {
  CurrentLimit,
  Descriptor,
  DescriptorStatus,
  RateLimitRequest,
  RateLimitResponse,
} from './message.ts'
import { writeStruct } from './struct.ts'
import * as tags from './tags.ts'
import { WireWriter } from './wire-writer.ts'

/** The message is `buffer` from 0 to `length`. It is valid until the next one is encoded. */
export interface Encoded {
  readonly buffer: Buffer
  readonly length: number
}

const writer = new WireWriter()

/** Encodes without allocating: the result must be copied, or sent, before the next call. */
export function encodeResponse(response: RateLimitResponse): Encoded {
  const { statuses, responseHeadersToAdd, dynamicMetadata } = response
  writer.reset()
  writeUint32Field(tags.response.overallCode, response.overallCode)
  for (let index = 0; index < statuses.length; index++) {
    const status = statuses[index]
    if (status !== undefined) writeStatus(status)
  }
  for (const header of responseHeadersToAdd) {
    writePair(tags.response.responseHeadersToAdd, header.key, header.value)
  }
  if (dynamicMetadata !== undefined) {
    writer.writeTag(tags.response.dynamicMetadata)
    writeStruct(writer, dynamicMetadata)
  }
  return writer
}

/** More than the fields of a status without a name take. */
const mostStatusBytes = 64

/**
 * Without a name, which few limits have, a status has a bounded length. It is then written without a check and without
 * a change of the writer for each field: a decision with 10 descriptors takes 7.9 instead of 8.5 µs.
 */
function writeStatus(status: DescriptorStatus): void {
  const { currentLimit } = status
  if (currentLimit === undefined || currentLimit.name !== '') writeFields(status)
  else writer.length = putStatus(writer.room(mostStatusBytes), writer.length, status, currentLimit)
}

function putStatus(
  buffer: Buffer,
  start: number,
  { code, limitRemaining, resetSeconds }: DescriptorStatus,
  { requestsPerUnit, unit }: CurrentLimit,
): number {
  // Two bytes are left free for the tag and the length of each message.
  const limitStart = putUint32Field(buffer, start + 2, tags.descriptorStatus.code, code) + 2
  let at = putUint32Field(buffer, limitStart, tags.currentLimit.requestsPerUnit, requestsPerUnit)
  at = putUint32Field(buffer, at, tags.currentLimit.unit, unit)
  putMessageHead(buffer, limitStart, tags.descriptorStatus.currentLimit, at)
  at = putUint32Field(buffer, at, tags.descriptorStatus.limitRemaining, limitRemaining)
  if (resetSeconds !== undefined) {
    const secondsStart = at + 2
    at = putUint32Field(buffer, secondsStart, tags.duration.seconds, resetSeconds)
    putMessageHead(buffer, secondsStart, tags.descriptorStatus.durationUntilReset, at)
  }
  putMessageHead(buffer, start + 2, tags.response.statuses, at)
  return at
}

/** Writes the tag and the length, below 128, of the message from `start` to `end`. */
function putMessageHead(buffer: Buffer, start: number, tag: number, end: number): void {
  buffer[start - 2] = tag
  buffer[start - 1] = end - start
}

function putUint32Field(buffer: Buffer, start: number, tag: number, value: number): number {
  if (value === 0) return start
  let at = start
  buffer[at++] = tag
  let rest = value
  while (rest > 0x7f) {
    buffer[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  buffer[at++] = rest
  return at
}

function writeFields(status: DescriptorStatus): void {
  writer.writeTag(tags.response.statuses)
  const start = writer.begin()
  writeUint32Field(tags.descriptorStatus.code, status.code)
  if (status.currentLimit !== undefined) writeCurrentLimit(status.currentLimit)
  writeUint32Field(tags.descriptorStatus.limitRemaining, status.limitRemaining)
  if (status.resetSeconds !== undefined) {
    writer.writeTag(tags.descriptorStatus.durationUntilReset)
    const durationStart = writer.begin()
    writeUint32Field(tags.duration.seconds, status.resetSeconds)
    writer.finish(durationStart)
  }
  writer.finish(start)
}

function writeCurrentLimit(limit: CurrentLimit): void {
  writer.writeTag(tags.descriptorStatus.currentLimit)
  const start = writer.begin()
  writeUint32Field(tags.currentLimit.requestsPerUnit, limit.requestsPerUnit)
  writeUint32Field(tags.currentLimit.unit, limit.unit)
  writeStringField(tags.currentLimit.name, limit.name)
  writer.finish(start)
}

/** Encodes the request of a client, with the same restrictions as `encodeResponse`. */
export function encodeRequest(request: RateLimitRequest): Encoded {
  writer.reset()
  writeStringField(tags.request.domain, request.domain)
  for (const descriptor of request.descriptors) writeDescriptor(descriptor)
  writeUint32Field(tags.request.hitsAddend, request.hitsAddend)
  return writer
}

function writeDescriptor({ entries, limit, hitsAddend, isNegativeHits }: Descriptor): void {
  writer.writeTag(tags.request.descriptors)
  const start = writer.begin()
  for (const { key, value } of entries) writePair(tags.descriptor.entries, key, value)
  if (limit !== undefined) {
    writer.writeTag(tags.descriptor.limit)
    const limitStart = writer.begin()
    writeUint32Field(tags.override.requestsPerUnit, limit.requestsPerUnit)
    if (limit.unit !== 0) {
      writer.writeTag(tags.override.unit)
      writer.writeInt32(limit.unit)
    }
    writer.finish(limitStart)
  }
  if (hitsAddend !== undefined) {
    writer.writeTag(tags.descriptor.hitsAddend)
    const addendStart = writer.begin()
    if (hitsAddend !== 0) {
      writer.writeTag(tags.uint64Value.value)
      writer.writeUint64(hitsAddend)
    }
    writer.finish(addendStart)
  }
  if (isNegativeHits) writeUint32Field(tags.descriptor.isNegativeHits, 1)
  writer.finish(start)
}

/** Entries and headers have the same encoding: key and value. */
function writePair(tag: number, key: string, value: string): void {
  writer.writeTag(tag)
  const start = writer.begin()
  writeStringField(tags.entry.key, key)
  writeStringField(tags.entry.value, value)
  writer.finish(start)
}

// proto3 omits default values.

function writeUint32Field(tag: number, value: number): void {
  if (value === 0) return
  writer.writeTag(tag)
  writer.writeUint32(value)
}

function writeStringField(tag: number, text: string): void {
  if (text === '') return
  writer.writeTag(tag)
  writer.writeString(text)
}
