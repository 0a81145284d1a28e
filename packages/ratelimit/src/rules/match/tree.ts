import type { RuleTable } from '../../hot/index.ts'
import type { Place } from '../model/rule.ts'
import { matchesWildcard, toWildcard } from '../model/wildcard.ts'

/** A rule for explanations, created on demand. Decisions read the table instead. */
export class RuleNode {
  readonly row: number
  readonly #table: RuleTable

  constructor(table: RuleTable, row: number) {
    this.#table = table
    this.row = row
  }

  get key(): string {
    return this.#table.keyOf(this.row)
  }

  get value(): string {
    return this.#table.valueOf(this.row)
  }

  /** `domain.key[_value].key[_value]…`, as written. */
  get path(): string {
    return this.#table.pathOf(this.row)
  }

  get place(): Place {
    return this.#table.placeOf(this.row)
  }

  /** Starts at 1. */
  get depth(): number {
    return this.#table.depthOf(this.row)
  }

  get hasLimit(): boolean {
    return this.#table.hasLimit(this.row)
  }

  get children(): Siblings | undefined {
    const children = new Siblings(this.#table, this.row)
    return children.byKey.size === 0 ? undefined : children
  }
}

/** Sibling rules with the same key. */
export class SameKeyRules {
  /**
   * By exact value, which is tried first. It includes patterns, because a value may equal the text of a
   * pattern.
   */
  readonly byValue = new Map<string, RuleNode>()
  /** Tried second, in the order of the file. */
  readonly patterns: RuleNode[] = []
  /** The rule without a value, tried last. */
  any: RuleNode | undefined = undefined

  findPattern(value: string): RuleNode | undefined {
    return this.patterns.find((node) => matchesWildcard(toWildcard(node.value), value))
  }

  find(value: string): RuleNode | undefined {
    return this.byValue.get(value) ?? this.findPattern(value) ?? this.any
  }

  /** In the order of the file, except that the rule without a value comes last. */
  all(): RuleNode[] {
    return [...this.byValue.values(), ...(this.any ? [this.any] : [])]
  }
}

/** The rules of one level by key, in the order of the file. */
export class Siblings {
  readonly byKey = new Map<string, SameKeyRules>()

  /** @param parent - the row of the parent rule, or of the domain */
  constructor(table: RuleTable, parent: number) {
    for (const row of table.childrenOf(parent)) this.#add(new RuleNode(table, row))
  }

  get(key: string): SameKeyRules | undefined {
    return this.byKey.get(key)
  }

  find(key: string, value: string): RuleNode | undefined {
    return this.byKey.get(key)?.find(value)
  }

  #add(node: RuleNode): void {
    const { key, value } = node
    let rules = this.byKey.get(key)
    if (rules === undefined) {
      rules = new SameKeyRules()
      this.byKey.set(key, rules)
    }
    if (value === '') {
      rules.any = node
      return
    }
    rules.byValue.set(value, node)
    if (value.includes('*')) rules.patterns.push(node)
  }
}
