import type { RuleCountersByKey } from '../stats/rule-counters.ts'
import type { IgnoredOverride } from './override.ts'
import type { RuleRecord, RuleSet } from './rule.ts'
import { toRuleNode } from './rule-node.ts'
import { RuleSnapshot } from './snapshot.ts'
import { type RuleNode, Siblings } from './tree.ts'

/** Takes rules piece by piece, so that a load of many never holds up a decision. */
export interface SnapshotBuilder {
  /** The next rules of the list. */
  add(chunk: readonly RuleRecord[]): void
  /** @param domains all of them: one without rules is known too. */
  finish(domains: readonly string[]): RuleSnapshot
}

export function createSnapshotBuilder(
  counters: RuleCountersByKey,
  onIgnoredOverride: IgnoredOverride = () => {},
): SnapshotBuilder {
  const domains = new Map<string, Siblings>()
  const nodes: RuleNode[] = []
  const keys = new Map<string, string>()

  /** Records of another thread bring a copy of each key for every rule. */
  function intern(key: string): string {
    const known = keys.get(key)
    if (known !== undefined) return known
    keys.set(key, key)
    return key
  }

  function topOf(domain: string): Siblings {
    let top = domains.get(domain)
    if (top === undefined) {
      top = new Siblings()
      domains.set(domain, top)
    }
    return top
  }

  function addChild(parent: RuleNode, node: RuleNode): void {
    const isFirst = parent.children === undefined
    parent.children ??= new Siblings()
    parent.children.add(node)
    parent.onlyChild = isFirst && node.value === '' ? node : undefined
  }

  return {
    add(chunk) {
      for (const record of chunk) {
        const parent = nodes[record.parent]
        if (parent === undefined && record.parent !== -1) {
          throw new TypeError(`Rule ${nodes.length} comes before rule ${record.parent}, its parent`)
        }
        const node = toRuleNode(record, intern(record.key), parent, counters)
        nodes.push(node)
        if (parent === undefined) topOf(record.domain).add(node)
        else addChild(parent, node)
      }
    },

    finish(names) {
      for (const name of names) topOf(name)
      return new RuleSnapshot({ domains, nodes, counters, onIgnoredOverride })
    },
  }
}

/** In one go, for sets that are small or that nobody waits for. */
export function compileRules(
  { domains, rules }: RuleSet,
  counters: RuleCountersByKey,
  onIgnoredOverride?: IgnoredOverride,
): RuleSnapshot {
  const builder = createSnapshotBuilder(counters, onIgnoredOverride)
  builder.add(rules)
  return builder.finish(domains)
}
