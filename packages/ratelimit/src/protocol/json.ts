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

/** proto3 omits default values; `JSON.stringify` omits undefined. */
function unlessDefault<Value extends string | number>(value: Value): Value | undefined {
  return value === '' || value === 0 ? undefined : value
}

/** The text is not the expected message in JSON. The message says where and why, on one line. */
export class RequestSyntaxError extends Error {
  override readonly name = 'RequestSyntaxError'
}

/** The members of a message by both names that proto3 JSON allows: hitsAddend, hits_addend. */
function toMemberNames<Name extends string>(...names: Name[]): ReadonlyMap<string, Name> {
  const toSnakeCase = (name: string) =>
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return new Map(names.flatMap((name) => [[name, name] as const, [toSnakeCase(name), name]]))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw fail('', error instanceof Error ? toOneLine(error.message) : 'is not JSON')
  }
}

/** A member that is null counts as absent. */
function parseMembers<Name extends string>(
  json: unknown,
  names: ReadonlyMap<string, Name>,
  path: string,
): Partial<Record<Name, unknown>> {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw fail(path, `expected an object, got ${toKind(json)}`)
  }
  const members: Partial<Record<Name, unknown>> = {}
  for (const [spelling, value] of Object.entries(json)) {
    const name = names.get(spelling)
    if (name === undefined) throw fail(path, `unknown member ${toKind(spelling)}`)
    if (Object.hasOwn(members, name)) throw fail(path, `${name} is present in both spellings`)
    members[name] = value ?? undefined
  }
  return members
}

function parseList<Item>(
  json: unknown,
  path: string,
  parseItem: (json: unknown, path: string) => Item,
): Item[] {
  if (json === undefined) return []
  if (!Array.isArray(json)) throw fail(path, `expected a list, got ${toKind(json)}`)
  return json.map((item, index) => parseItem(item, `${path}[${index}]`))
}

function parseString(json: unknown, path: string): string {
  if (json === undefined) return ''
  if (typeof json !== 'string') throw fail(path, `expected a string, got ${toKind(json)}`)
  if (!json.isWellFormed()) throw fail(path, 'the string contains a lone surrogate')
  return json
}

function parseBoolean(json: unknown, path: string): boolean {
  if (json === undefined) return false
  if (typeof json !== 'boolean') throw fail(path, `expected true or false, got ${toKind(json)}`)
  return json
}

function parseUint32(json: unknown, path: string): number {
  if (json === undefined) return 0
  const value = parseInteger(json, path)
  if (value < 0 || value > 0xffff_ffff) {
    throw fail(path, `expected an integer from 0 to 4294967295, got ${toKind(json)}`)
  }
  return value
}

/** Above 2^53, returns the nearest double. The JSON parser has already rounded JSON numbers. */
function parseUint64(json: unknown, path: string): number {
  const value = parseInteger(json, path)
  const isTooLarge =
    typeof json === 'string' && isDigits(json) ? BigInt(json) >= 2n ** 64n : value >= 2 ** 64
  if (value < 0 || isTooLarge) {
    throw fail(path, `expected an integer from 0 to 18446744073709551615, got ${toKind(json)}`)
  }
  return value
}

/** Returns the number of an enum value by its name. Numbers without a name are accepted. */
function parseEnum(json: unknown, path: string, names: readonly string[]): number {
  if (json === undefined) return 0
  if (typeof json === 'string' && names.includes(json)) return names.indexOf(json)
  if (typeof json === 'number' && (json | 0) === json) return json | 0
  throw fail(path, `expected one of ${names.join(', ')}, got ${toKind(json)}`)
}

function parseInteger(json: unknown, path: string): number {
  const value = typeof json === 'string' && isNumeral(json) ? Number(json) : json
  // Adding 0 turns -0, which JSON allows, into 0.
  if (typeof value === 'number' && Number.isInteger(value)) return value + 0
  throw fail(path, `expected an integer, got ${toKind(json)}`)
}

/** Whether the string contains a JSON number. */
function isNumeral(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)
}

function isDigits(text: string): boolean {
  return /^\d+$/.test(text)
}

function fail(path: string, reason: string): RequestSyntaxError {
  return new RequestSyntaxError(path === '' ? reason : `${path}: ${reason}`)
}

function toKind(json: unknown): string {
  if (Array.isArray(json)) return 'a list'
  if (typeof json === 'object' && json !== null) return 'an object'
  if (typeof json === 'string' && json.length > 40) return 'a long string'
  return JSON.stringify(json) ?? 'nothing'
}

function toOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}
