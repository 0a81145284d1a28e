import {
  parseBoolean,
  parseEnum,
  parseJson,
  parseList,
  parseMembers,
  parseString,
  parseUint32,
  parseUint64,
  toMemberNames,
} from './json-reader.ts'
import {
  codeNames,
  type Descriptor,
  type DescriptorStatus,
  type Entry,
  type HeaderValue,
  type LimitOverride,
  limitUnitNames,
  overrideUnitNames,
  type RateLimitRequest,
  type RateLimitResponse,
} from './message.ts'

export { RequestSyntaxError } from './json-reader.ts'

const requestMembers = toMemberNames('domain', 'descriptors', 'hitsAddend')
const descriptorMembers = toMemberNames('entries', 'limit', 'hitsAddend', 'isNegativeHits')
const entryMembers = toMemberNames('key', 'value')
const overrideMembers = toMemberNames('requestsPerUnit', 'unit')

/** Reads the proto3 JSON form of a request, or throws a `RequestSyntaxError`. */
export function parseRequestJson(text: string): RateLimitRequest {
  const { domain, descriptors, hitsAddend } = parseMembers(parseJson(text), requestMembers, '')
  return {
    domain: parseString(domain, 'domain'),
    descriptors: parseList(descriptors, 'descriptors', parseDescriptor),
    hitsAddend: parseUint32(hitsAddend, 'hitsAddend'),
  }
}

function parseDescriptor(json: unknown, path: string): Descriptor {
  const members = parseMembers(json, descriptorMembers, path)
  const { entries, limit, hitsAddend, isNegativeHits } = members
  return {
    entries: parseList(entries, `${path}.entries`, parseEntry),
    limit: limit === undefined ? undefined : parseOverride(limit, `${path}.limit`),
    hitsAddend:
      hitsAddend === undefined ? undefined : parseUint64(hitsAddend, `${path}.hitsAddend`),
    isNegativeHits: parseBoolean(isNegativeHits, `${path}.isNegativeHits`),
  }
}

function parseEntry(json: unknown, path: string): Entry {
  const { key, value } = parseMembers(json, entryMembers, path)
  return { key: parseString(key, `${path}.key`), value: parseString(value, `${path}.value`) }
}

function parseOverride(json: unknown, path: string): LimitOverride {
  const { requestsPerUnit, unit } = parseMembers(json, overrideMembers, path)
  return {
    requestsPerUnit: parseUint32(requestsPerUnit, `${path}.requestsPerUnit`),
    unit: parseEnum(unit, `${path}.unit`, overrideUnitNames),
  }
}

/** The proto3 JSON form of a response. */
export function toResponseJson(response: RateLimitResponse): string {
  const { overallCode, statuses, responseHeadersToAdd, dynamicMetadata } = response
  return JSON.stringify({
    overallCode: codeNames[overallCode],
    statuses: statuses.length === 0 ? undefined : statuses.map(toStatusJson),
    responseHeadersToAdd:
      responseHeadersToAdd.length === 0 ? undefined : responseHeadersToAdd.map(toHeaderJson),
    dynamicMetadata,
  })
}

function toStatusJson({ code, currentLimit, limitRemaining, resetSeconds }: DescriptorStatus) {
  return {
    code: codeNames[code],
    currentLimit: currentLimit && {
      name: unlessDefault(currentLimit.name),
      requestsPerUnit: unlessDefault(currentLimit.requestsPerUnit),
      unit:
        unlessDefault(currentLimit.unit) &&
        (limitUnitNames[currentLimit.unit] ?? currentLimit.unit),
    },
    limitRemaining: unlessDefault(limitRemaining),
    durationUntilReset: resetSeconds === undefined ? undefined : `${resetSeconds}s`,
  }
}

function toHeaderJson({ key, value }: HeaderValue) {
  return { key: unlessDefault(key), value: unlessDefault(value) }
}

/** proto3 leaves out what has its default value, and so does JSON what is undefined. */
function unlessDefault<Value extends string | number>(value: Value): Value | undefined {
  return value === '' || value === 0 ? undefined : value
}
