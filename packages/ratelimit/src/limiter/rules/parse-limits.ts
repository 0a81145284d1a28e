import { toReason } from '@portcullis/service-kit/text/reason'
import { findSimilarName, toQuestion } from '@portcullis/service-kit/text/similar-names'
import {
  algorithms,
  type LimitRecord,
  type RuleRecord,
  type RuleSet,
} from '../../rules/model/rule.ts'
import { isWildcard, toWildcard, type Wildcard } from '../../rules/model/wildcard.ts'
import { type LimitObject, type ParsedLimit, parseLimitText } from './limits.ts'

/** The limit of one value, or of any value, of a key. */
export interface LimitNode {
  /** Its index in the compiled rules. */
  readonly index: number
  /** The keys that lead to it. */
  readonly keys: readonly string[]
  readonly hasLimit: boolean
  readonly per: LimitLevel | undefined
}

/** The limits of one key. */
export interface KeyLimits {
  any: LimitNode | undefined
  readonly byValue: Map<string, LimitNode>
  /** In the order in which they are written. */
  readonly patterns: { readonly wildcard: Wildcard; readonly node: LimitNode }[]
}

export type LimitLevel = ReadonlyMap<string, KeyLimits>

export interface ParsedLimits {
  readonly rules: RuleSet
  readonly top: LimitLevel
  /** The keys of all levels. */
  readonly keys: ReadonlySet<string>
}

const objectNames = new Set<keyof LimitObject>([
  'limit',
  'algorithm',
  'shadowMode',
  'quotaMode',
  'name',
  'replaces',
  'values',
  'per',
])

/**
 * Converts limits that are objects to rules.
 * @param faults - receives every error with its path; if there are any, the rules must not be used
 */
export function parseLimits(limits: unknown, domain: string, faults: string[]): ParsedLimits {
  return new Parsing(domain, faults).parse(limits)
}

class Parsing {
  readonly #domain: string
  readonly #faults: string[]
  readonly #records: RuleRecord[] = []
  readonly #keys = new Set<string>()

  constructor(domain: string, faults: string[]) {
    this.#domain = domain
    this.#faults = faults
  }

  parse(limits: unknown): ParsedLimits {
    const top = this.#level(limits, 'limits', -1, [])
    if (top.size === 0 && this.#faults.length === 0) {
      this.#faults.push("limits is empty: add a limit such as { ip: '100/minute' }")
    }
    return { rules: { domains: [this.#domain], rules: this.#records }, top, keys: this.#keys }
  }

  #level(limits: unknown, path: string, parent: number, keys: readonly string[]): LimitLevel {
    const level = new Map<string, KeyLimits>()
    if (!isRecord(limits)) {
      this.#faults.push(`${path} must be an object of limits by key, not ${describe(limits)}`)
      return level
    }
    for (const [key, definition] of Object.entries(limits)) {
      const at = `${path}.${key}`
      if (key === '') {
        this.#faults.push(`${path} has an empty key: name what to count by, such as ip`)
        continue
      }
      this.#keys.add(key)
      const rules: KeyLimits = { any: undefined, byValue: new Map(), patterns: [] }
      level.set(key, rules)
      const object = this.#toObject(definition, at)
      if (object === undefined) continue
      const keysToHere = [...keys, key]
      const { values } = object
      if (object.limit === undefined && values === undefined && object.per === undefined) {
        this.#faults.push(`${at} needs a limit, values or per`)
      }
      if (object.limit !== undefined || object.per !== undefined) {
        rules.any = this.#node(object, key, '', at, parent, keysToHere)
      }
      if (values !== undefined) this.#values(values, rules, key, at, parent, keysToHere)
    }
    return level
  }

  #values(
    values: unknown,
    rules: KeyLimits,
    key: string,
    path: string,
    parent: number,
    keys: readonly string[],
  ): void {
    if (!isRecord(values)) {
      this.#faults.push(
        `${path}.values must be an object of limits by value, not ${describe(values)}`,
      )
      return
    }
    for (const [value, definition] of Object.entries(values)) {
      const at = `${path}.values.${value}`
      const object = this.#toObject(definition, at)
      if (object === undefined) continue
      if (object.values !== undefined)
        this.#faults.push(
          `${at} must not have values: only a key has values, and this is one of them`,
        )
      const node = this.#node(object, key, value, at, parent, keys)
      rules.byValue.set(value, node)
      if (isWildcard(value)) rules.patterns.push({ wildcard: toWildcard(value), node })
    }
  }

  #node(
    object: LimitObject,
    key: string,
    value: string,
    path: string,
    parent: number,
    keys: readonly string[],
  ): LimitNode {
    const limit = this.#limit(object, path)
    const index = this.#records.length
    this.#records.push({
      parent,
      domain: this.#domain,
      key,
      value,
      limit,
      shadowMode: this.#flag(object, 'shadowMode', path),
      quotaMode: this.#flag(object, 'quotaMode', path),
      detailedMetric: false,
      valueToMetric: false,
      shareThreshold: false,
      metadata: undefined,
      place: { file: 'limits', line: 0, column: 0 },
    })
    const per =
      object.per === undefined ? undefined : this.#level(object.per, `${path}.per`, index, keys)
    return { index, keys, hasLimit: limit !== undefined, per }
  }

  #toObject(definition: unknown, path: string): LimitObject | undefined {
    if (typeof definition === 'string') return { limit: definition as LimitObject['limit'] }
    if (!isRecord(definition)) {
      const wanted = "a limit such as '100/minute', or an object with options"
      this.#faults.push(`${path} must be ${wanted}, not ${describe(definition)}`)
      return undefined
    }
    for (const name of Object.keys(definition)) {
      if (objectNames.has(name as keyof LimitObject)) continue
      const question = toQuestion(name, objectNames)
      const advice =
        question === '' ? `; the options are ${[...objectNames].join(', ')}` : `.${question}`
      this.#faults.push(`${path}.${name} is not an option of a limit${advice}`)
    }
    return definition
  }

  #limit(object: LimitObject, path: string): LimitRecord | undefined {
    const { limit: text, algorithm = 'fixed_window', name = '', replaces = [] } = object
    if (text === undefined) return undefined
    if (!algorithms.includes(algorithm)) {
      const meant = findSimilarName(String(algorithm), algorithms)
      const suggestion = meant === undefined ? '' : ` Did you mean ${meant}?`
      this.#faults.push(
        `${path}.algorithm must be ${algorithms.join(' or ')}, not ${describe(algorithm)}.${suggestion}`,
      )
    }
    if (typeof name !== 'string') {
      this.#faults.push(`${path}.name must be a string, not ${describe(name)}`)
    }
    if (!Array.isArray(replaces)) {
      this.#faults.push(`${path}.replaces must be an array of names, not ${describe(replaces)}`)
    } else if (name !== '' && replaces.includes(name)) {
      this.#faults.push(`${path}.replaces must not contain its own name`)
    }
    const parsed = this.#parseText(text, path)
    if (parsed === undefined) return undefined
    const { requestsPerUnit, unit, unitMultiplier } = parsed
    return {
      requestsPerUnit,
      unit: unit?.name,
      unitMultiplier,
      algorithm,
      unlimited: unit === undefined,
      name,
      replaces,
    }
  }

  #parseText(text: unknown, path: string): ParsedLimit | undefined {
    try {
      if (typeof text === 'string') return parseLimitText(text)
      this.#faults.push(
        `${path}.limit must be a string such as '100/minute', not ${describe(text)}`,
      )
    } catch (error) {
      this.#faults.push(`${path}: ${toReason(error)}`)
    }
    return undefined
  }

  #flag(object: LimitObject, name: 'shadowMode' | 'quotaMode', path: string): boolean {
    const value = object[name] ?? false
    if (typeof value !== 'boolean') {
      this.#faults.push(`${path}.${name} must be true or false, not ${describe(value)}`)
    }
    return value
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Formats a value for a message. Long strings are truncated, so that they do not fill the log. */
export function describe(value: unknown): string {
  if (typeof value === 'string')
    return value.length > 40 ? `'${value.slice(0, 40)}…'` : `'${value}'`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}
