/** Names that would give access to JavaScript prototypes; templates cannot read them. */
const hiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

export function readField(value: unknown, name: string): unknown {
  if (!isRecord(value) || hiddenNames.has(name) || !Object.hasOwn(value, name)) return undefined
  return value[name]
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** As in Go, empty values are false. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isRecord(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

/** The values that `range` iterates over; those of an object in the order of their names. */
export function toItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isRecord(value)) return []
  return Object.keys(value)
    .sort()
    .map((name) => readField(value, name))
}

/** A missing value is empty. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
