import { invalid } from './errors.ts'

/** JSON that PostgreSQL stores as `jsonb`. */
export type Json = null | boolean | number | string | readonly Json[] | Metadata
export interface Metadata {
  readonly [name: string]: Json
}

/** Checks an object that was parsed from JSON. @throws {ApiError} */
export function toMetadata(data: Readonly<Record<string, unknown>> | undefined): Metadata {
  const flaw = findUnstorable(data)
  if (flaw !== undefined) throw invalid(`The metadata ${flaw}`)
  return (data ?? {}) as Metadata
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

export function omitKeys(data: Metadata, keys: ReadonlySet<string>): Metadata {
  return Object.fromEntries(Object.entries(data).filter(([key]) => !keys.has(key)))
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
