import type { Descriptor, Entry, RateLimitRequest } from '../../engine.ts'
import type { YamlNode } from '../../rules/index.ts'
import { type FileReading, isComplete } from './file-reading.ts'
import { parseWrittenLimit } from './written-values.ts'

export const requestFields = ['domain', 'descriptors', 'hits']
export const descriptorFields = ['entries', 'hits', 'limit']
const mostHits = 0xffff_ffff

/** @param domain - the domain of the test or of the file, for requests without one */
export function parseRequest(
  node: YamlNode,
  domain: string | undefined,
  reading: FileReading,
): RateLimitRequest | undefined {
  const fields = reading.fields(node, 'a request', requestFields)
  const domainNode = fields.get('domain')
  const descriptors = fields.get('descriptors')
  const hits = fields.get('hits')
  const named = domainNode === undefined ? domain : reading.text(domainNode, 'domain')
  if (domainNode === undefined && domain === undefined && isComplete(node, fields)) {
    const hint = "set it here, or for all requests as 'domain' of the test or of the file"
    reading.faults.add(node.offset, 'the request has no domain', hint)
  }
  if (descriptors === undefined) {
    if (isComplete(node, fields)) reading.faults.add(node.offset, 'the request has no descriptors')
    return undefined
  }
  return {
    domain: named ?? '',
    descriptors: reading
      .items(descriptors, 'descriptors')
      .map((item) => parseDescriptor(item, reading)),
    hitsAddend: hits === undefined ? 0 : (reading.integer(hits, 'hits', 0, mostHits) ?? 0),
  }
}

/** `{user: alice}`, `[{user: alice}, {user: bob}]`, or with more: `{entries: …, hits: 3}`. */
function parseDescriptor(node: YamlNode, reading: FileReading): Descriptor {
  const isLong =
    node.kind === 'map' &&
    node.entries.some(({ name, value }) => name === 'entries' && value.kind !== 'scalar')
  if (!isLong) return toDescriptor(parseEntries(node, reading))
  const fields = reading.fields(node, 'a descriptor with entries', descriptorFields)
  const entries = fields.get('entries')
  const hits = fields.get('hits')
  const limit = fields.get('limit')
  const count = hits && reading.integer(hits, 'hits', -mostHits, mostHits)
  return {
    entries: entries === undefined ? [] : parseEntries(entries, reading),
    limit: limit && parseOverride(limit, reading),
    hitsAddend: count && Math.abs(count),
    isNegativeHits: (count ?? 0) < 0,
  }
}

function toDescriptor(entries: readonly Entry[]): Descriptor {
  return { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
}

function parseEntries(node: YamlNode, reading: FileReading): readonly Entry[] {
  const maps = node.kind === 'list' ? node.items : [node]
  const entries: Entry[] = []
  for (const map of maps) {
    for (const { name, value } of reading.map(map, 'the entries of a descriptor')?.entries ?? []) {
      entries.push({ key: name, value: reading.text(value, `the value of '${name}'`) ?? '' })
    }
  }
  if (entries.length === 0 && maps.every(({ kind }) => kind === 'map')) {
    reading.faults.add(node.offset, 'a descriptor needs at least one entry')
  }
  return entries
}

/** The protocol does not support windows of several units. */
function parseOverride(node: YamlNode, reading: FileReading): Descriptor['limit'] {
  const text = node.kind === 'scalar' ? node.text : ''
  const written = parseWrittenLimit(text)
  if (written !== undefined && written.windowSeconds === written.unit.seconds) {
    return { requestsPerUnit: written.requestsPerUnit, unit: written.unit.wire }
  }
  reading.refuse(node, 'the limit of a request must be hits per unit, such as 5/minute')
  return undefined
}
