import { type Descriptor, type Entry, parseRequestJson, RequestSyntaxError } from '../../engine.ts'
import { createMemberFinder, isRecord, parseRecord, toTimeReason } from './json-member.ts'
import type { ReadLine } from './recorded-request.ts'
import { parseTime } from './time.ts'

export interface RequestLineSettings {
  /** The names of the members, or paths separated by dots. */
  readonly timeField: string
  readonly domainField: string
  readonly descriptorsField: string
  readonly hitsField: string
  /** The domain of lines without one. */
  readonly domain: string | undefined
}

/**
 * Reads rate limit requests, one JSON object per line. A descriptor is written as for `/json`
 * (`{"entries": [{"key": …, "value": …}]}`) or in short form (`{"path": "/", "user": "7"}`).
 */
export function createRequestLineReader(settings: RequestLineSettings): ReadLine {
  const findTime = createMemberFinder(settings.timeField)
  const findDomain = createMemberFinder(settings.domainField)
  const findDescriptors = createMemberFinder(settings.descriptorsField)
  const findHits = createMemberFinder(settings.hitsField)

  return (line) => {
    const object = parseRecord(line)
    if (typeof object === 'string') return object
    const time = findTime(object)
    const timeMs = parseTime(time)
    if (timeMs === undefined) return toTimeReason(settings.timeField, time)
    const domain = findDomain(object) ?? settings.domain
    if (typeof domain !== 'string' || domain === '') {
      return `there is no domain in the field ${settings.domainField} (use --domain to set it for all lines)`
    }
    const list = findDescriptors(object)
    if (!Array.isArray(list)) {
      return `the field ${settings.descriptorsField} must be a list of descriptors`
    }
    const descriptors: Descriptor[] = []
    for (const item of list) {
      const descriptor = toDescriptor(item)
      if (typeof descriptor === 'string') return descriptor
      descriptors.push(descriptor)
    }
    if (descriptors.length === 0) return undefined
    const hitsAddend = toHits(findHits(object) ?? object['hits_addend'])
    if (hitsAddend === undefined) {
      return `the field ${settings.hitsField} must be a whole number from 0 to 4294967295`
    }
    return { timeMs, domain, descriptors, hitsAddend }
  }
}

function toHits(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0
  const hits = Number(value)
  return Number.isInteger(hits) && hits >= 0 && hits <= 0xffff_ffff ? hits : undefined
}

function toDescriptor(item: unknown): Descriptor | string {
  if (!isRecord(item)) return 'a descriptor must be an object'
  const { entries } = item
  if (!Array.isArray(entries)) return toShortDescriptor(item)
  const isPlain = Object.keys(item).length === 1 && entries.every(isEntry)
  if (!isPlain) return parseFullDescriptor(item)
  return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
}

function isEntry(value: unknown): value is Entry {
  return isRecord(value) && typeof value['key'] === 'string' && typeof value['value'] === 'string'
}

/** Descriptors with limits or hits are rare and use the parser of `/json`. */
function parseFullDescriptor(item: object): Descriptor | string {
  try {
    const { descriptors } = parseRequestJson(JSON.stringify({ descriptors: [item] }))
    return descriptors[0] ?? 'a descriptor must be an object'
  } catch (error) {
    if (error instanceof RequestSyntaxError) return error.message
    throw error
  }
}

function toShortDescriptor(item: Readonly<Record<string, unknown>>): Descriptor | string {
  const entries: Entry[] = []
  for (const key of Object.keys(item)) {
    const value = item[key]
    if (typeof value === 'string') entries.push({ key, value })
    else if (typeof value === 'number' || typeof value === 'boolean') {
      entries.push({ key, value: String(value) })
    } else {
      return `the descriptor's ${JSON.stringify(key)} must be a string`
    }
  }
  return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
}
