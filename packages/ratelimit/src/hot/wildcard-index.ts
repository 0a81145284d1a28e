import { matchesWildcard, toWildcard, type Wildcard } from '../rules/model/wildcard.ts'
import { extendHash, firstSlot, hashBelow, hashStart, nextSlot } from '../structures/hash-slots.ts'
import { noRow, type PackedRules, rowShift, word } from './packed-rules.ts'
import type { PackedTexts } from './packed-texts.ts'

/*
 * Measured with 5,000 sibling patterns (bench/hot.bench.ts, CPU time on an overloaded machine with 2 cores, three runs):
 * 0.8 to 3.4 µs by prefix, 110 to 260 µs when they are tried one after the other. With 10 patterns it is slightly slower:
 * 207 instead of 146 ns.
 */

/**
 * Finds patterns by a hash of the text before their first star. A value is hashed once from its start;
 * wherever a prefix could end, only the patterns with that hash are tried. So thousands of sibling patterns
 * such as `foo*` cost little more than a few. Patterns that begin with a star are tried one after the other.
 */
export class WildcardIndex {
  readonly #rules: PackedRules
  readonly #texts: PackedTexts
  /** By row; compiled when first tried. */
  readonly #wildcards = new Map<number, Wildcard>()

  constructor(rules: PackedRules, texts: PackedTexts) {
    this.#rules = rules
    this.#texts = texts
  }

  /**
   * Finds the first matching pattern in the order of the file, not the longest one.
   * @param head - the first rule with the key of the patterns
   */
  find(head: number, value: string): number {
    const { lists, rows } = this.#rules
    const lengths = rows[(head << rowShift) + word.prefixes] ?? noRow
    if (lengths === noRow) return noRow
    let best = noRow
    let hash = hashStart
    let hashed = 0
    const end = lengths + (lists[lengths] ?? 0)
    for (let i = lengths + 1; i <= end; i += 1) {
      const length = lists[i] ?? 0
      if (length > value.length) break
      hash = extendHash(hash, value, hashed, length)
      hashed = length
      best = earlier(best, this.#findPrefix(head, hash, value))
    }
    return best
  }

  #findPrefix(head: number, prefixHash: number, value: string): number {
    const { byPrefix, lists } = this.#rules
    const hash = hashBelow(head, prefixHash)
    let best = noRow
    for (let at = firstSlot(byPrefix, hash); ; at = nextSlot(byPrefix, at)) {
      const list = (byPrefix[at + 1] ?? 0) - 1
      if (list === noRow) return best
      if (byPrefix[at] === hash && this.#isBeside(lists[list + 1] ?? noRow, head)) {
        best = earlier(best, this.#findInList(list, value))
      }
    }
  }

  #findInList(list: number, value: string): number {
    const { lists } = this.#rules
    const end = list + (lists[list] ?? 0)
    for (let i = list + 1; i <= end; i += 1) {
      const row = lists[i] ?? noRow
      if (this.#matches(row, value)) return row
    }
    return noRow
  }

  #isBeside(row: number, head: number): boolean {
    const { rows } = this.#rules
    const one = row << rowShift
    const other = head << rowShift
    return (
      rows[one + word.parent] === rows[other + word.parent] &&
      rows[one + word.key] === rows[other + word.key]
    )
  }

  #matches(row: number, value: string): boolean {
    let wildcard = this.#wildcards.get(row)
    if (wildcard === undefined) {
      const at = this.#rules.rows[(row << rowShift) + word.value] ?? 0
      wildcard = toWildcard(this.#texts.read(at))
      this.#wildcards.set(row, wildcard)
    }
    return matchesWildcard(wildcard, value)
  }
}

/** Rows are in the order of the configuration. */
function earlier(one: number, other: number): number {
  if (one === noRow) return other
  return other === noRow || one < other ? one : other
}
