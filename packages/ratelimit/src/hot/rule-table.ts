import type { Entry } from '../protocol/message.ts'
import type { Place } from '../rules/model/rule.ts'
import { toLevel } from '../stats/statistics-key.ts'
import { firstSlot, hashBelow, hashText, nextSlot } from '../structures/hash-slots.ts'
import { flag, noRow, type PackedRules, rowShift, word } from './packed-rules.ts'
import { PackedTexts } from './packed-texts.ts'
import { WildcardIndex } from './wildcard-index.ts'

/*
 * Reads packed rules in place: a match of two levels among 100,000 rules takes a third of the time that it takes in
 * nested maps of objects. See packed-rules.ts for the measurements.
 */

const noText = -1

/** Finds and reads packed rules. A rule or a domain is a row; `noRow` means that there is none. */
export class RuleTable {
  readonly #rules: PackedRules
  readonly #rows: PackedRules['rows']
  readonly #texts: PackedTexts
  readonly #wildcards: WildcardIndex
  readonly domainCount: number
  readonly rowCount: number
  /** The keys of requests are interned strings, whose hashes are already computed for a `Map`. */
  readonly #knownKeys = new Map<string, number>()
  // Most requests are for the domain of the last one.
  #lastDomain: string | undefined = undefined
  #lastDomainRow = noRow

  constructor(rules: PackedRules) {
    this.#rules = rules
    this.#rows = rules.rows
    this.#texts = new PackedTexts(rules.texts)
    this.#wildcards = new WildcardIndex(rules, this.#texts)
    this.domainCount = rules.domainCount
    this.rowCount = rules.rows.length >> rowShift
  }

  findDomain(name: string): number {
    if (name === this.#lastDomain) return this.#lastDomainRow
    const key = this.#findText(name)
    const row = key === noText ? noRow : this.#findKey(noRow, key)
    if (row !== noRow) {
      this.#lastDomain = name
      this.#lastDomainRow = row
    }
    return row
  }

  /**
   * Finds the rule of a descriptor. There is no backtracking: once a level has selected a rule, its siblings
   * are not tried, even if no child of the selected rule matches.
   */
  find(domain: number, entries: readonly Entry[]): number {
    if (entries.length === 0) return noRow
    let row = domain
    for (let i = 0; i < entries.length && row !== noRow; i += 1) {
      const entry = entries[i]
      row = entry === undefined ? noRow : this.#findChild(row, entry)
    }
    return row
  }

  /** The exact value is tried first, then patterns in the order of the file, then the key alone. */
  #findChild(parent: number, { key, value }: Entry): number {
    const firstChild = this.get(parent, word.firstChild)
    if (firstChild === noRow) return noRow
    const keyText = this.#findText(key)
    if (keyText === noText) return noRow
    if (this.has(parent, flag.hasOnlyOpenChild)) {
      return this.get(firstChild, word.key) === keyText ? firstChild : noRow
    }
    const head = this.#findKey(parent, keyText)
    if (head === noRow) return noRow
    if (this.has(head, flag.hasValues)) {
      const exact = this.#findValue(head, value)
      if (exact !== noRow) return exact
      const pattern = this.#wildcards.find(head, value)
      if (pattern !== noRow) return pattern
    }
    return this.get(head, word.any)
  }

  /** The number of the text that all rules with the key refer to. */
  #findText(key: string): number {
    const known = this.#knownKeys.get(key)
    if (known !== undefined) return known
    const { keys } = this.#rules
    const hash = hashText(key)
    for (let at = firstSlot(keys, hash); ; at = nextSlot(keys, at)) {
      const text = (keys[at + 1] ?? 0) - 1
      if (text === noText) return noText
      if (keys[at] === hash && this.#texts.is(text, key)) {
        this.#knownKeys.set(key, text)
        return text
      }
    }
  }

  /**
   * Finds the first rule with the key. Key and value are compared separately, unlike in envoyproxy/ratelimit,
   * where key `a_b` with value `c` equals key `a` with value `b_c`.
   */
  #findKey(parent: number, key: number): number {
    const { byKey } = this.#rules
    const hash = hashBelow(parent, key)
    for (let at = firstSlot(byKey, hash); ; at = nextSlot(byKey, at)) {
      const row = (byKey[at + 1] ?? 0) - 1
      if (row === noRow) return noRow
      if (byKey[at] !== hash || this.get(row, word.parent) !== parent) continue
      if (this.get(row, word.key) === key) return row
    }
  }

  /** Patterns are found too: a value that equals the text of the pattern is an exact match. */
  #findValue(head: number, value: string): number {
    const { byValue } = this.#rules
    const hash = hashBelow(head, hashText(value))
    for (let at = firstSlot(byValue, hash); ; at = nextSlot(byValue, at)) {
      const row = (byValue[at + 1] ?? 0) - 1
      if (row === noRow) return noRow
      if (byValue[at] !== hash || !this.#isBeside(row, head)) continue
      if (this.#texts.is(this.get(row, word.value), value)) return row
    }
  }

  /** Whether two rules are siblings with the same key. Equal keys refer to the same text. */
  #isBeside(row: number, other: number): boolean {
    return (
      this.get(row, word.parent) === this.get(other, word.parent) &&
      this.get(row, word.key) === this.get(other, word.key)
    )
  }

  /** @param at - one of `word` */
  get(row: number, at: number): number {
    return this.#rows[(row << rowShift) + at] ?? 0
  }

  /** @param bit - one of `flag` */
  has(row: number, bit: number): boolean {
    return (this.get(row, word.flags) & bit) !== 0
  }

  /** @param at - a `word` that refers to a text */
  text(row: number, at: number): string {
    return this.#texts.read(this.get(row, at))
  }

  isDomain(row: number): boolean {
    return row < this.domainCount
  }

  /** Domains in the order of their first rules, followed by those without rules. */
  domainNames(): string[] {
    return Array.from({ length: this.domainCount }, (_, row) => this.keyOf(row))
  }

  /**
   * Whether the statistics of a rule are named after request values: `detailed_metric` of the rule adds the
   * values of all levels, `value_to_metric` that of its own level.
   */
  namesValues(row: number): boolean {
    const isDetailed = this.has(row, flag.detailedMetric)
    return this.has(row, isDetailed ? flag.hasOpenLevel : flag.hasMetricLevel)
  }

  /**
   * The path of a rule whose statistics are named after request values: see `namesValues`.
   * @param entries - one for each level of the rule
   */
  requestPathOf(leaf: number, entries: readonly Entry[]): string {
    const isDetailed = this.has(leaf, flag.detailedMetric)
    let path = ''
    let row = leaf
    for (let i = entries.length - 1; !this.isDomain(row); i -= 1) {
      path = `.${this.#requestLevelOf(row, entries[i]?.value ?? '', isDetailed)}${path}`
      row = this.get(row, word.parent)
    }
    return this.levelOf(row) + path
  }

  #requestLevelOf(row: number, requested: string, isDetailed: boolean): string {
    // A shared threshold has one counter, so its statistics have one name.
    if (this.has(row, flag.isShared)) return this.levelOf(row)
    const key = this.keyOf(row)
    if (isDetailed) return `${key}_${requested}`
    return this.has(row, flag.valueToMetric) ? toLevel(key, requested) : this.levelOf(row)
  }

  /** The key of a rule, or the name of a domain. */
  keyOf(row: number): string {
    return this.text(row, word.key)
  }

  /** Empty for any value. */
  valueOf(row: number): string {
    return this.text(row, word.value)
  }

  hasLimit(row: number): boolean {
    return this.has(row, flag.hasLimit)
  }

  hasChildren(row: number): boolean {
    return this.get(row, word.firstChild) !== noRow
  }

  /** `key` or `key_value`, as written. */
  levelOf(row: number): string {
    return toLevel(this.keyOf(row), this.valueOf(row))
  }

  /** `domain.key[_value].key[_value]…`, as written. */
  pathOf(row: number): string {
    const level = this.levelOf(row)
    return this.isDomain(row) ? level : `${this.pathOf(this.get(row, word.parent))}.${level}`
  }

  domainOf(row: number): number {
    return this.isDomain(row) ? row : this.domainOf(this.get(row, word.parent))
  }

  /** Starts at 1. Only a descriptor with this number of entries can match the rule. */
  depthOf(row: number): number {
    return this.isDomain(row) ? 0 : this.depthOf(this.get(row, word.parent)) + 1
  }

  placeOf(row: number): Place {
    return {
      file: this.text(row, word.file),
      line: this.get(row, word.line),
      column: this.get(row, word.column),
    }
  }

  *childrenOf(row: number): Generator<number> {
    const first = this.get(row, word.firstChild)
    for (let child = first; child !== noRow; child = this.get(child, word.nextSibling)) yield child
  }
}
