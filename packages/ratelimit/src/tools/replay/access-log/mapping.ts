import type { Descriptor, Entry } from '../../../engine.ts'
import type { RecordedRequest } from '../recorded-request.ts'
import { FormatError, type Operator, parseTemplate } from './operators.ts'

export interface MappingSettings {
  readonly domain: string
  /** `path=%REQ(:PATH)%,user=%REQ(X-USER)%`, one per descriptor. */
  readonly descriptors: readonly string[]
  /** How many hits a request counts for; 1 where undefined. */
  readonly hits: string | undefined
  /** Whether paths end at their question mark. */
  readonly stripsQuery: boolean
}

/** Gives the slot in which the value of an operator will be, or throws a `FormatError`. */
export type FindSlot = (operator: Operator) => number

/** The values of one line by slot; undefined where the line has none. */
export type Fields = readonly (string | undefined)[]

/** Text, and slots in it. */
type Value = readonly (string | number)[]

interface EntryTemplate {
  readonly key: string
  readonly value: Value
}

/** From the fields of a line to the request that Envoy would have sent for it. */
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

  /** Undefined where no descriptor is left: Envoy asks nobody then. */
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

  /** An action without its value drops the whole descriptor, as in Envoy. */
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

/** Only of what is a path or an address: another value may well have a question mark in it. */
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
      throw new FormatError('entries are written key=value and separated by commas', start + 1)
    }
    const value = entry.slice(equals + 1).replaceAll('\\,', ',')
    if (value === '') throw new FormatError(`${entry} has no value`, start + 1)
    const key = entry.slice(0, equals).trim()
    templates.push({ key, value: parseValue(value, start + equals + 2, findSlot) })
    start = end + 1
  }
  return templates
}

/** Commas between entries: not those inside of an operator, nor those after a backslash. */
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
