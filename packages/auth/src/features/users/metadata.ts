import { invalid } from '../../errors.ts'
import { findUnstorable } from './storable-json.ts'

export type Json = null | boolean | number | string | readonly Json[] | Metadata
export interface Metadata {
  readonly [name: string]: Json
}

/** Keys of the change replace those of before; one that is null is removed. */
export function mergeMetadata(before: Metadata, change: Metadata): Metadata {
  // Without a prototype, so that `__proto__` is a key like any other.
  const merged: Record<string, Json> = Object.assign(Object.create(null), before)
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete merged[key]
    else merged[key] = value
  }
  return merged
}

/** An object of a body, which JSON has made. @throws {ApiError} */
export function toMetadata(data: Readonly<Record<string, unknown>> | undefined): Metadata {
  const flaw = findUnstorable(data)
  if (flaw !== undefined) throw invalid(`The metadata ${flaw}`)
  return (data ?? {}) as Metadata
}
