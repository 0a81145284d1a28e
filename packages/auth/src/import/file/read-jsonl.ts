import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { toJsonValue } from '../json-value.ts'

/** A record of a file, before it is checked. */
export interface RawRecord {
  /** The number of the line, from 1. */
  readonly line: number
  readonly fields: Readonly<Record<string, unknown>>
  /** The reason if the record cannot be read. */
  readonly flaw?: string
}

/** Reads a file with one JSON object per line. Blank lines are ignored. */
export async function* readJsonl(input: Readable): AsyncGenerator<RawRecord> {
  let line = 0
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1
    const json = line === 1 ? text.replace(/^\uFEFF/, '') : text
    if (json.trim() !== '') yield { line, ...parseObject(json) }
  }
}

function parseObject(text: string): Omit<RawRecord, 'line'> {
  const value = toJsonValue(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { fields: value as Record<string, unknown> }
  }
  return { fields: {}, flaw: 'it is not a JSON object' }
}
