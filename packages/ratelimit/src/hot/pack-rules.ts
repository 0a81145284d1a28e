import {
  algorithms,
  type LimitRecord,
  type RuleRecord,
  type RuleSet,
  unitByName,
} from '../rules/model/rule.ts'
import { isWildcard } from '../rules/model/wildcard.ts'
import {
  addToSlots,
  createSlots,
  type HashSlots,
  hashBelow,
  hashText,
} from '../structures/hash-slots.ts'
import {
  algorithmShift,
  flag,
  noRow,
  type PackedRules,
  rowShift,
  rowWords,
  toDetailText,
  word,
} from './packed-rules.ts'
import { emptyText, TextPacker } from './packed-texts.ts'

/*
 * Runs in the parser's thread, so that it does not block decisions: see packed-rules.ts for the measurements.
 */

/** Precomputes everything about rules that does not depend on a request. */
export function packRules({ domains, rules }: RuleSet): PackedRules {
  // Domains with rules come first, in the order of the rules.
  const names = new Set([...rules.map(({ domain }) => domain), ...domains])
  const packer = new RulePacker(names, rules.length)
  for (const rule of rules) packer.add(rule)
  return packer.finish()
}

/** An entry that is found by its hash. */
interface Hashed {
  readonly hash: number
  readonly place: number
}

/** A rule with a value. */
interface Valued {
  /** The first sibling with the same key. */
  readonly head: number
  readonly value: string
  readonly row: number
}

class RulePacker {
  readonly #rows: Int32Array<ArrayBuffer>
  readonly #texts = new TextPacker()
  readonly #domains = new Map<string, number>()
  /** By row. */
  readonly #keys: string[] = []
  readonly #values: string[] = []
  readonly #lastChild: Int32Array
  #next = 0

  constructor(domains: ReadonlySet<string>, ruleCount: number) {
    const rowCount = domains.size + ruleCount
    this.#rows = new Int32Array(rowCount * rowWords)
    this.#lastChild = new Int32Array(rowCount).fill(noRow)
    for (const name of domains) {
      this.#domains.set(name, this.#next)
      this.#addRow(noRow, name, '')
    }
  }

  add(rule: RuleRecord): void {
    const parent = this.#parentOf(rule)
    const row = this.#addRow(parent, rule.key, rule.value)
    this.#link(parent, row)
    this.#set(row, word.flags, this.#toFlags(rule, parent))
    if (rule.limit !== undefined) this.#setLimit(row, rule.limit)
    const detail = toDetailText(rule)
    if (detail !== undefined) this.#set(row, word.detail, this.#texts.add(detail))
    this.#set(row, word.file, this.#texts.add(rule.place.file))
    this.#set(row, word.line, rule.place.line)
    this.#set(row, word.column, rule.place.column)
  }

  finish(): PackedRules {
    const heads = [...this.#domains.values()]
    const valued: Valued[] = []
    for (let row = 0; row < this.#next; row += 1) this.#sortChildren(row, heads, valued)
    const lists: number[] = []
    const prefixes = this.#listPatterns(valued, lists)
    const keys = [...new Set(this.#keys)]
    return {
      domainCount: this.#domains.size,
      rows: this.#rows,
      keys: toSlots(keys.map((key) => ({ hash: hashText(key), place: this.#texts.add(key) }))),
      byKey: toSlots(heads.map((row) => ({ hash: this.#hashKeyOf(row), place: row }))),
      byValue: toSlots(
        valued.map(({ head, value, row }) => ({
          hash: hashBelow(head, hashText(value)),
          place: row,
        })),
      ),
      byPrefix: toSlots(prefixes),
      lists: Int32Array.from(lists),
      texts: this.#texts.finish(),
    }
  }

  #get(row: number, at: number): number {
    return this.#rows[(row << rowShift) + at] ?? 0
  }

  #set(row: number, at: number, value: number): void {
    this.#rows[(row << rowShift) + at] = value
  }

  #addFlag(row: number, bits: number): void {
    this.#set(row, word.flags, this.#get(row, word.flags) | bits)
  }

  #parentOf({ parent, domain }: RuleRecord): number {
    const domainRow = this.#domains.get(domain)
    if (parent === -1 && domainRow !== undefined) return domainRow
    const row = parent + this.#domains.size
    if (row < this.#next) return row
    const index = this.#next - this.#domains.size
    throw new TypeError(`Rule ${index} comes before rule ${parent}, its parent`)
  }

  #addRow(parent: number, key: string, value: string): number {
    const row = this.#next
    this.#next += 1
    this.#keys.push(key)
    this.#values.push(value)
    this.#set(row, word.parent, parent)
    this.#set(row, word.key, this.#texts.add(key))
    this.#set(row, word.value, this.#texts.add(value))
    this.#set(row, word.name, emptyText)
    this.#set(row, word.detail, emptyText)
    for (const link of [word.firstChild, word.nextSibling, word.any, word.prefixes]) {
      this.#set(row, link, noRow)
    }
    return row
  }

  #link(parent: number, row: number): void {
    const last = this.#lastChild[parent] ?? noRow
    if (last === noRow) this.#set(parent, word.firstChild, row)
    else this.#set(last, word.nextSibling, row)
    this.#lastChild[parent] = row
  }

  #toFlags(rule: RuleRecord, parent: number): number {
    const above = this.#get(parent, word.flags)
    const isPattern = isWildcard(rule.value)
    const isShared = isPattern && rule.shareThreshold
    const isOpen = rule.value === '' || (isPattern && !isShared)
    return (
      (above & (flag.hasOpenLevel | flag.hasMetricLevel | flag.hasSharedLevel)) |
      (rule.shadowMode ? flag.shadowMode : 0) |
      (rule.quotaMode ? flag.quotaMode : 0) |
      (rule.detailedMetric ? flag.detailedMetric : 0) |
      (rule.valueToMetric ? flag.valueToMetric : 0) |
      (isShared ? flag.isShared | flag.hasSharedLevel : 0) |
      (isOpen ? flag.hasOpenLevel : 0) |
      (isOpen && rule.valueToMetric ? flag.hasMetricLevel : 0)
    )
  }

  #setLimit(row: number, limit: LimitRecord): void {
    const unit = limit.unit === undefined ? undefined : unitByName(limit.unit)
    if (limit.unlimited === (unit !== undefined)) {
      const index = row - this.#domains.size
      throw new TypeError(`Rule ${index} must have a unit or be unlimited`)
    }
    const flags =
      flag.hasLimit |
      (limit.unlimited ? flag.isUnlimited : 0) |
      (algorithms.indexOf(limit.algorithm) << algorithmShift)
    this.#addFlag(row, flags)
    this.#set(row, word.requestsPerUnit, limit.requestsPerUnit)
    this.#set(row, word.unit, unit?.wire ?? 0)
    this.#set(row, word.unitMultiplier, limit.unitMultiplier)
    this.#set(row, word.name, this.#texts.add(limit.name))
  }

  /** Finds the first rule of each key among the children of this row. */
  #sortChildren(parent: number, heads: number[], valued: Valued[]): void {
    const first = this.#get(parent, word.firstChild)
    if (first === noRow) return
    const isOnly = this.#get(first, word.nextSibling) === noRow
    if (isOnly && this.#values[first] === '') {
      this.#addFlag(parent, flag.hasOnlyOpenChild)
      return
    }
    const headByKey = new Map<number, number>()
    for (let row = first; row !== noRow; row = this.#get(row, word.nextSibling)) {
      const key = this.#get(row, word.key)
      const value = this.#values[row] ?? ''
      let head = headByKey.get(key)
      if (head === undefined) {
        head = row
        headByKey.set(key, head)
        heads.push(head)
      }
      if (value === '') {
        this.#set(head, word.any, row)
      } else {
        this.#addFlag(head, flag.hasValues)
        valued.push({ head, value, row })
      }
    }
  }

  /** Lists patterns by their prefix; equal lists are stored once. */
  #listPatterns(valued: readonly Valued[], lists: number[]): Hashed[] {
    const prefixes: Hashed[] = []
    const patterns = valued.filter(({ value }) => isWildcard(value))
    for (const [head, sameKey] of Map.groupBy(patterns, (pattern) => pattern.head)) {
      const alike = Map.groupBy(sameKey, ({ value }) => toPrefix(value))
      for (const [prefix, each] of alike) {
        const rows = each.map(({ row }) => row)
        const hash = hashBelow(head, hashText(prefix))
        prefixes.push({ hash, place: addList(lists, rows) })
      }
      const lengths = new Set([...alike.keys()].map(({ length }) => length))
      const ascending = [...lengths].sort((one, other) => one - other)
      this.#set(head, word.prefixes, addList(lists, ascending))
    }
    return prefixes
  }

  #hashKeyOf(row: number): number {
    return hashBelow(this.#get(row, word.parent), this.#get(row, word.key))
  }
}

function addList(lists: number[], items: readonly number[]): number {
  const place = lists.length
  lists.push(items.length)
  for (const item of items) lists.push(item)
  return place
}

function toPrefix(pattern: string): string {
  return pattern.slice(0, pattern.indexOf('*'))
}

function toSlots(all: readonly Hashed[]): HashSlots {
  const slots = createSlots(all.length)
  for (const { hash, place } of all) addToSlots(slots, hash, place)
  return slots
}
