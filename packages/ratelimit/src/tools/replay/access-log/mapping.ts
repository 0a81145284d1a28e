import type { Descriptor, Entry } from '../../../engine.ts'
import type { RecordedRequest } from '../recorded-request.ts'
import { FormatError, type Operator, parseTemplate } from './operators.ts'

export interface MappingSettings {
  readonly domain: string
  /** `path=%REQ(:PATH)%,user=%REQ(X-USER)%`, one per descriptor. */
  readonly descriptors: readonly string[]
  /** The number of hits of a request; 1 if undefined. */
  readonly hits: string | undefined
  /** Whether the query string is removed from paths. */
  readonly stripsQuery: boolean
}

/** Returns the slot for the value of an operator, or throws a `FormatError`. */
export type FindSlot = (operator: Operator) => number

/** The values of one line by slot; undefined for a missing value. */
export type Fields = readonly (string | undefined)[]

/** Text with slots. */
type Value = readonly (string | number)[]

interface EntryTemplate {
  readonly key: string
  readonly value: Value
}

/** Converts the fields of a line to the request that Envoy would have sent. */
export class Mapping {
  readonly #domain: string
  readonly #stripsQuery: boolean
  readonly #descriptors: readonly (readonly EntryTemplate[])[]
  readonly #hits: Value | undefined

  constructor({ domain, descriptors, hits, stripsQuery }: MappingSettings, findSlot: FindSlot) {
    this.#domain = domain
    this.#stripsQuery = stripsQuery
    this.#descriptors = descriptors.map((text) => parseDescriptor(text, findSlot))
    this.#hits = hits === undefined ? undefined : parseValue(hits, 1, findSlot)
  }

  /** Returns undefined if there are no descriptors: Envoy sends no request then. */
  toRequest(timeMs: number, fields: Fields): RecordedRequest | undefined {
    const descriptors: Descriptor[] = []
    for (const templates of this.#descriptors) {
      const entries = this.#toEntries(templates, fields)
      if (entries === undefined) continue
      descriptors.push({ entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false })
    }
    if (descriptors.length === 0) return undefined
    return { timeMs, domain: this.#domain, descriptors, hitsAddend: this.#toHits(fields) }
  }

  /** A missing value drops the whole descriptor, as in Envoy. */
  #toEntries(templates: readonly EntryTemplate[], fields: Fields): Entry[] | undefined {
    const entries: Entry[] = []
    for (const { key, value } of templates) {
      const text = fill(value, fields)
      if (text === undefined) return undefined
      entries.push({ key, value: this.#stripsQuery ? stripQuery(text) : text })
    }
    return entries
  }

  #toHits(fields: Fields): number {
    if (this.#hits === undefined) return 1
    const hits = Number(fill(this.#hits, fields))
    return hits >= 0 && hits <= 0xffff_ffff ? Math.floor(hits) : 1
  }
}

function fill(value: Value, fields: Fields): string | undefined {
  const first = value[0]
  if (value.length === 1 && typeof first === 'number') return fields[first]
  let text = ''
  for (const part of value) {
    const piece = typeof part === 'number' ? fields[part] : part
    if (piece === undefined) return undefined
    text += piece
  }
  return text
}

/** Applies only to paths and URLs, because other values may contain a question mark. */
function stripQuery(text: string): string {
  if (!text.startsWith('/') && !text.startsWith('http')) return text
  const end = text.indexOf('?')
  return end === -1 ? text : text.slice(0, end)
}

function parseDescriptor(text: string, findSlot: FindSlot): EntryTemplate[] {
  const templates: EntryTemplate[] = []
  let start = 0
  for (const end of entryEnds(text)) {
    const entry = text.slice(start, end)
    const equals = entry.indexOf('=')
    if (equals < 1) {
      throw new FormatError('entries must be written as key=value, separated by commas', start + 1)
    }
    const value = entry.slice(equals + 1).replaceAll('\\,', ',')
    if (value === '') throw new FormatError(`${entry} has no value`, start + 1)
    const key = entry.slice(0, equals).trim()
    templates.push({ key, value: parseValue(value, start + equals + 2, findSlot) })
    start = end + 1
  }
  return templates
}

/** Finds commas between entries, except those inside an operator or after a backslash. */
function entryEnds(text: string): number[] {
  const ends: number[] = []
  for (const match of text.matchAll(/\\,|%%|%[^%(]*(?:\(.*?\))?(?::\d+)?%|,/gs)) {
    if (match[0] === ',') ends.push(match.index)
  }
  return [...ends, text.length]
}

function parseValue(text: string, column: number, findSlot: FindSlot): Value {
  try {
    return parseTemplate(text).map((part) => (typeof part === 'string' ? part : findSlot(part)))
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new FormatError(error.message, column + error.column - 1)
  }
}
