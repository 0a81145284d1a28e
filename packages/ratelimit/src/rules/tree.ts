import type { Entry } from '../protocol/message.ts'
import { NameMap } from './name-map.ts'
import type { Match, Place } from './rule.ts'
import { isWildcard } from './wildcard.ts'
import { WildcardIndex } from './wildcard-index.ts'

/**
 * A rule in its place. Nothing about it changes once its snapshot exists. It keeps no more than is
 * needed, not even its record: what a reload leaves behind is what the garbage collector copies.
 */
export interface RuleNode {
  /** What a descriptor that ends here has met; undefined for a rule without a limit. */
  readonly match: Match | undefined
  /** Whether statistics go by the request's values, so that the counters of `match` are not it. */
  readonly namesValues: boolean
  /**
   * The rule nested in this one, where it is the only one and takes any value: most are like that,
   * and each table on the way to it would be one more miss of the processor's caches.
   */
  onlyChild: RuleNode | undefined
  children: Siblings | undefined
  readonly domain: string
  readonly key: string
  readonly value: string
  readonly place: Place
  /** The rule this one is nested in. */
  readonly parent: RuleNode | undefined
  /** `domain.key[_value].key[_value]…`, as written. */
  readonly path: string
  /** By level, as in `Match`. */
  readonly sharedValues: readonly (string | undefined)[] | undefined
  /** Whether all values of the pattern count in one counter. */
  readonly isShared: boolean
  readonly detailedMetric: boolean
  readonly valueToMetric: boolean
  /** Whether this level or one above leaves the value to the request. */
  readonly hasOpenLevel: boolean
  /** Whether this level or one above is open and puts the value into the statistics key. */
  readonly hasMetricLevel: boolean
}

/**
 * Rules with one key beside each other. As a map: by exact value, which is tried first. Patterns
 * are in it too, since a value that spells the pattern is an exact match.
 */
export class SameKeyRules extends NameMap<RuleNode> {
  /** Tried second, in the order of the file. */
  wildcards: WildcardIndex<RuleNode> | undefined = undefined
  /** The rule without a value, tried last. */
  any: RuleNode | undefined = undefined

  find(value: string): RuleNode | undefined {
    return this.get(value) ?? this.wildcards?.find(value) ?? this.any
  }
}

/**
 * The rules of one level by key. Key and value are compared apart, unlike in envoyproxy/ratelimit,
 * where key `a_b` with value `c` equals key `a` with value `b_c`.
 */
export class Siblings extends NameMap<SameKeyRules> {
  add(node: RuleNode): void {
    const { key, value } = node
    let rules = this.get(key)
    if (rules === undefined) {
      rules = new SameKeyRules()
      this.set(key, rules)
    }
    if (value === '') {
      rules.any = node
      return
    }
    rules.set(value, node)
    if (!isWildcard(value)) return
    rules.wildcards ??= new WildcardIndex()
    rules.wildcards.add(value, node)
  }

  find(key: string, value: string): RuleNode | undefined {
    return this.get(key)?.find(value)
  }
}

/**
 * The rule a descriptor ends at. There is no way back: once a level has chosen, a sibling is not
 * tried any more, even where nothing below the choice matches.
 */
export function findRule(top: Siblings, entries: readonly Entry[]): RuleNode | undefined {
  const first = entries[0]
  if (first === undefined) return undefined
  let node = top.find(first.key, first.value)
  for (let i = 1; i < entries.length && node !== undefined; i += 1) {
    const entry = entries[i]
    node = entry === undefined ? undefined : findChild(node, entry)
  }
  return node
}

function findChild({ onlyChild, children }: RuleNode, { key, value }: Entry): RuleNode | undefined {
  if (onlyChild !== undefined) return onlyChild.key === key ? onlyChild : undefined
  return children?.find(key, value)
}

/** From 1. A descriptor with another number of entries never ends at this rule. */
export function depthOf(node: RuleNode): number {
  return node.parent === undefined ? 1 : depthOf(node.parent) + 1
}
