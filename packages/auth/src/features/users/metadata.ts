import { type ApiError, invalid } from '../../errors.ts'

export type Json = null | boolean | number | string | readonly Json[] | Metadata
export interface Metadata {
  readonly [name: string]: Json
}

/** Keys in the change replace existing ones; a key that is null is removed. */
export function mergeMetadata(before: Metadata, change: Metadata): Metadata {
  // Without a prototype, so that `__proto__` is an ordinary key.
  const merged: Record<string, Json> = Object.assign(Object.create(null), before)
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete merged[key]
    else merged[key] = value
  }
  return merged
}

/** Checks an object that was parsed from JSON. @throws {ApiError} */
export function toMetadata(data: Readonly<Record<string, unknown>> | undefined): Metadata {
  const flaw = findUnstorable(data)
  if (flaw !== undefined) throw invalid(`The metadata ${flaw}`)
  return (data ?? {}) as Metadata
}

interface Limited {
  readonly config: {
    readonly metadata: { readonly mostUserBytes: number; readonly mostAppBytes: number }
  }
}

type Body = Readonly<Record<string, unknown>> | undefined

/**
 * Keys of user_metadata that the server writes itself, from verified data. Users cannot change
 * them.
 */
export const reservedKeys: ReadonlySet<string> = new Set([
  'sub',
  'email',
  'email_verified',
  'phone_verified',
])

/** The metadata that new users send about themselves. @throws {ApiError} */
export function parseOwnMetadata(services: Limited, body: Body): Metadata {
  return omitKeys(parseUserMetadata(services, body), reservedKeys)
}

/**
 * The changes that users send. The size is checked after the merge, because null removes keys.
 * @throws {ApiError}
 */
export function parseOwnChange(body: Body): Metadata {
  return omitKeys(toMetadata(body), reservedKeys)
}

export function omitKeys(data: Metadata, keys: ReadonlySet<string>): Metadata {
  return Object.fromEntries(Object.entries(data).filter(([key]) => !keys.has(key)))
}

/** The user_metadata that an administrator sets for a new user. @throws {ApiError} */
export function parseUserMetadata({ config }: Limited, body: Body): Metadata {
  const data = toMetadata(body)
  const most = config.metadata.mostUserBytes
  if (countStoredBytes(data) > most) throw tooLarge('user_metadata', most)
  return data
}

/** @throws {ApiError} */
export function parseAppMetadata({ config }: Limited, body: Body): Metadata {
  const data = toMetadata(body)
  const most = config.metadata.mostAppBytes
  if (countStoredBytes(data) > most) throw tooLarge('app_metadata', most)
  return data
}

/** The changes of a statement; null leaves the metadata unchanged. */
export interface MetadataChange {
  readonly user_metadata: Metadata | null
  readonly app_metadata: Metadata | null
}

/**
 * Checks the size after the merge. Metadata that is already too large may stay so or shrink, but
 * not grow. The statement checks this again because of concurrent requests.
 * @throws {ApiError}
 */
export function checkMetadataSize(
  { config }: Limited,
  user: { readonly raw_user_meta_data: Metadata; readonly raw_app_meta_data: Metadata },
  change: Partial<MetadataChange>,
): void {
  const { mostUserBytes, mostAppBytes } = config.metadata
  if (grows(user.raw_user_meta_data, change.user_metadata, mostUserBytes)) {
    throw tooLarge('user_metadata', mostUserBytes)
  }
  if (grows(user.raw_app_meta_data, change.app_metadata, mostAppBytes)) {
    throw tooLarge('app_metadata', mostAppBytes)
  }
}

function grows(before: Metadata, change: Metadata | null | undefined, most: number): boolean {
  if (!change) return false
  const bytes = countStoredBytes(mergeMetadata(before, change))
  return bytes > most && bytes > countStoredBytes(before)
}

function tooLarge(name: string, mostBytes: number): ApiError {
  return invalid(`${name} must not be larger than ${mostBytes} bytes`, { status: 422 })
}

/** PostgreSQL and JSON.stringify both process JSON recursively. */
const deepest = 200

/**
 * Why JSON cannot be stored; undefined when it can. PostgreSQL supports neither U+0000 nor unpaired
 * surrogates.
 */
export function findUnstorable(json: unknown): string | undefined {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value: json, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next
    if (typeof value === 'string') {
      if (!isStorableText(value)) return 'has a character that cannot be stored'
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= deepest) return `is nested more than ${deepest} levels deep`
      for (const [key, inner] of Object.entries(value)) {
        if (!isStorableText(key)) return 'has a character that cannot be stored'
        if (typeof inner === 'string' || typeof inner === 'object') {
          waiting.push({ value: inner, depth: depth + 1 })
        }
      }
    }
  }
  return undefined
}

/** @throws {ApiError} */
export function checkText(name: string, text: string): void {
  if (!isStorableText(text)) throw invalid(`The ${name} has a character that cannot be stored`)
}

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/**
 * The size of JSON as PostgreSQL prints a `jsonb`: with a space after each comma and colon, and
 * without exponents in numbers. Statements measure with `octet_length`, and both must agree.
 */
export function countStoredBytes(json: Json): number {
  if (typeof json === 'number') return countDigits(json)
  if (typeof json !== 'object' || json === null) return Buffer.byteLength(JSON.stringify(json))
  const inner = Array.isArray(json)
    ? json.map(countStoredBytes)
    : Object.entries(json).map(
        ([key, value]) => countStoredBytes(key) + ': '.length + countStoredBytes(value),
      )
  const separators = Math.max(0, inner.length - 1) * ', '.length
  return inner.reduce((total, bytes) => total + bytes, '{}'.length + separators)
}

/** PostgreSQL prints all zeros of 1e21, which JavaScript writes with an exponent. */
function countDigits(number: number): number {
  const text = `${number}`
  const [, sign = '', whole = '', rest = '', exponent = ''] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (exponent === '') return text.length
  const power = Number(exponent)
  return power > 0
    ? sign.length + whole.length + Math.max(power, rest.length)
    : sign.length + '0.'.length - power + rest.length
}
