import type {
  Code,
  CurrentLimit,
  DescriptorStatus,
  HeaderValue,
  RateLimitResponse,
} from './message.ts'
import { OK, OVER_LIMIT } from './message.ts'
import { readStruct } from './struct.ts'
import * as tags from './tags.ts'
import { DecodeError, WireReader } from './wire-reader.ts'

const reader = new WireReader()

/** For whoever asks: the load generator, tests. What a caller cannot use is passed over. */
export function decodeResponse(buffer: Buffer, start: number, end: number): RateLimitResponse {
  reader.open(buffer, start, end)
  let overallCode = 0
  const statuses: DescriptorStatus[] = []
  const responseHeadersToAdd: HeaderValue[] = []
  let dynamicMetadata: RateLimitResponse['dynamicMetadata']
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === tags.response.overallCode) overallCode = reader.readInt32()
    else if (tag === tags.response.statuses) statuses.push(decodeStatus())
    else if (tag === tags.response.responseHeadersToAdd) responseHeadersToAdd.push(decodeHeader())
    else if (tag === tags.response.dynamicMetadata) dynamicMetadata = readStruct(reader)
    else reader.skip(tag)
  }
  return { overallCode: toCode(overallCode), statuses, responseHeadersToAdd, dynamicMetadata }
}

function decodeStatus(): DescriptorStatus {
  let code = 0
  let currentLimit: CurrentLimit | undefined
  let limitRemaining = 0
  let resetSeconds: number | undefined
  const outerEnd = reader.enter()
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === tags.descriptorStatus.code) code = reader.readInt32()
    else if (tag === tags.descriptorStatus.currentLimit) currentLimit = decodeLimit(currentLimit)
    else if (tag === tags.descriptorStatus.limitRemaining) limitRemaining = reader.readUint32()
    else if (tag === tags.descriptorStatus.durationUntilReset) {
      resetSeconds = decodeSeconds(resetSeconds)
    } else reader.skip(tag)
  }
  reader.leave(outerEnd)
  return { code: toCode(code), currentLimit, limitRemaining, resetSeconds }
}

function decodeLimit(earlier: CurrentLimit | undefined): CurrentLimit {
  let requestsPerUnit = earlier?.requestsPerUnit ?? 0
  let unit = earlier?.unit ?? 0
  let name = earlier?.name ?? ''
  const outerEnd = reader.enter()
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === tags.currentLimit.requestsPerUnit) requestsPerUnit = reader.readUint32()
    else if (tag === tags.currentLimit.unit) unit = reader.readInt32()
    else if (tag === tags.currentLimit.name) name = reader.readName()
    else reader.skip(tag)
  }
  reader.leave(outerEnd)
  return { requestsPerUnit, unit, name }
}

function decodeSeconds(earlier: number | undefined): number {
  let seconds = earlier ?? 0
  const outerEnd = reader.enter()
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === tags.duration.seconds) seconds = reader.readInt64()
    else reader.skip(tag)
  }
  reader.leave(outerEnd)
  return seconds
}

function decodeHeader(): HeaderValue {
  let key = ''
  let value = ''
  const outerEnd = reader.enter()
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === tags.headerValue.key) key = reader.readName()
    else if (tag === tags.headerValue.value) value = reader.readString()
    else reader.skip(tag)
  }
  reader.leave(outerEnd)
  return { key, value }
}

/** This service never answers UNKNOWN, and a caller could do nothing with it. */
function toCode(number: number): Code {
  if (number === OK || number === OVER_LIMIT) return number
  throw new DecodeError(`the response has the code ${number}, which means neither yes nor no`)
}
