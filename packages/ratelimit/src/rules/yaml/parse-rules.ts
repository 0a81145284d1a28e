import type { Json, JsonObject } from '../../protocol/message.ts'
import { cutText, quote } from '../../yaml/quote.ts'
import {
  toBoolean,
  toNumber,
  type YamlList,
  type YamlMap,
  type YamlNode,
} from '../../yaml/yaml-node.ts'
import type { LimitRecord, RuleRecord } from '../model/rule.ts'
import type { RuleFileReading } from './field-reader.ts'
import { type RuleDraft, readFileDraft, readRuleDraft } from './parse-drafts.ts'
import { parseLimit } from './parse-limit.ts'

/** The indexes of the rules of one level by `key` or `key_value`, which must be unique. */
type Siblings = Map<string, number>

interface Level {
  readonly domain: string
  readonly parent: number
  /** `domain.key_value.`, the prefix of names in messages. */
  readonly path: string
  readonly siblings: Siblings
}

/**
 * Converts files to the flat list of rules. All checks run for every rule, in the order of
 * envoyproxy/ratelimit, which stops at the first that fails.
 */
export class RuleLoading {
  readonly rules: RuleRecord[] = []
  readonly #domains = new Map<string, Siblings>()
  readonly #mergeDomains: boolean

  constructor(mergeDomains: boolean) {
    this.#mergeDomains = mergeDomains
  }

  get domains(): string[] {
    return [...this.#domains.keys()]
  }

  addFile(root: YamlMap, reading: RuleFileReading): void {
    const { domain, domainAt, descriptors } = readFileDraft(root, reading)
    if (domain === '' && !reading.invalidMaps.has(root)) {
      reading.rules.add(domainAt, 'config file cannot have empty domain')
    } else if (descriptors === undefined && !reading.invalidMaps.has(root)) {
      reading.warnings.add(domainAt, `descriptors is missing: domain ${quote(domain)} has no rules`)
    }
    const siblings = this.#siblingsOf(domain, domainAt, reading)
    this.#addRules(descriptors, { domain, parent: -1, path: `${domain}.`, siblings }, reading)
  }

  #siblingsOf(domain: string, domainAt: number, reading: RuleFileReading): Siblings {
    const before = this.#domains.get(domain)
    if (before !== undefined && domain !== '') {
      if (this.#mergeDomains) return before
      const hint = 'set MERGE_DOMAIN_CONFIG=true to spread a domain over several files'
      reading.rules.add(domainAt, `duplicate domain ${quote(domain)} in config file`, hint)
    }
    const siblings: Siblings = new Map()
    this.#domains.set(domain, siblings)
    return siblings
  }

  #addRules(list: YamlList | undefined, level: Level, reading: RuleFileReading): void {
    for (const item of list?.items ?? []) {
      if (item.kind === 'map') this.#addRule(item, level, reading)
    }
  }

  #addRule(map: YamlMap, level: Level, reading: RuleFileReading): void {
    const draft = readRuleDraft(map, reading)
    if (draft.key === '' && !reading.invalidMaps.has(map)) {
      reading.rules.add(map.offset, 'descriptor has empty key')
    }
    const name = draft.value === '' ? draft.key : `${draft.key}_${draft.value}`
    const index = this.rules.length
    if (draft.key !== '') this.#checkUnique(name, index, map, level, reading)
    const limit = draft.limit && parseLimit(draft.limit, reading)
    if (draft.shareThreshold && !draft.value.includes('*')) {
      const message = "share_threshold can only be used with wildcard values (containing '*')"
      reading.rules.add(map.offset, `${message}, but found key ${quote(name)}`)
    }
    this.rules.push(toRecord(draft, limit, map, level, reading))
    if (draft.descriptors === undefined) return
    const path = `${level.path}${name}.`
    const below = { domain: level.domain, parent: index, path, siblings: new Map() }
    this.#addRules(draft.descriptors, below, reading)
  }

  #checkUnique(
    name: string,
    index: number,
    map: YamlMap,
    level: Level,
    reading: RuleFileReading,
  ): void {
    const first = level.siblings.get(name)
    if (first === undefined) {
      level.siblings.set(name, index)
      return
    }
    const place = this.rules[first]?.place
    const hint = place && `the first one is in ${place.file}, line ${place.line}`
    const message = `duplicate descriptor composite key ${quote(`${level.path}${name}`)}`
    reading.rules.add(map.offset, message, hint)
  }
}

function toRecord(
  draft: RuleDraft,
  limit: LimitRecord | undefined,
  map: YamlMap,
  level: Level,
  reading: RuleFileReading,
): RuleRecord {
  const { line, column } = reading.lines.placeOf(map.offset)
  return {
    parent: level.parent,
    domain: level.domain,
    key: draft.key,
    value: draft.value,
    limit,
    shadowMode: draft.shadowMode,
    quotaMode: draft.quotaMode,
    detailedMetric: draft.detailedMetric,
    valueToMetric: draft.valueToMetric,
    shareThreshold: draft.shareThreshold,
    metadata:
      draft.metadata &&
      parseMetadata(draft.metadata, (offset, text) => {
        reading.rules.add(offset, `error parsing metadata: ${text}`)
      }),
    place: { file: reading.name, line, column },
  }
}

/** Metadata is returned to clients as a protobuf Struct, which can contain only JSON values. */
function parseMetadata(map: YamlMap, refuse: (offset: number, text: string) => void): JsonObject {
  const toJson = (node: YamlNode): Json => {
    if (node.kind === 'map') return toObject(node)
    if (node.kind === 'list') return node.items.map(toJson)
    if (node.type === 'string') return node.text
    if (node.type === 'boolean') return toBoolean(node.text)
    if (node.type === 'null') return null
    const value = toNumber(node.text)
    if (!Number.isFinite(value))
      refuse(node.offset, `${cutText(node.text)} cannot be represented in JSON`)
    return value
  }
  // Keys are kept as written; fromEntries also keeps a key named __proto__.
  const toObject = (from: YamlMap): JsonObject =>
    Object.fromEntries(from.entries.map((entry) => [entry.name, toJson(entry.value)]))
  return toObject(map)
}
