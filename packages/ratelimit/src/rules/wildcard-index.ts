import { matchesWildcard, toWildcard, type Wildcard } from './wildcard.ts'

/** One pattern and what it stands for. */
export interface IndexedWildcard<Target> extends Wildcard {
  readonly pattern: string
  /** Its place among the siblings: the first that matches wins, not the longest. */
  readonly order: number
  readonly target: Target
}

/**
 * Patterns in the order of the file, found by a hash of the text before their first star. A value
 * is hashed once from its front; wherever a prefix could end, only the patterns with that hash are
 * tried. So thousands of `foo*` beside each other cost little more than a few. Patterns that begin
 * with the star have no such text and are tried one after the other.
 */
export class WildcardIndex<Target> {
  /** In the order of the file. */
  readonly all: IndexedWildcard<Target>[] = []
  readonly #byHash = new Map<number, IndexedWildcard<Target>[]>()
  /** Of the prefixes, each once, ascending. */
  readonly #lengths: number[] = []

  add(pattern: string, target: Target): void {
    const wildcard = toWildcard(pattern)
    const { prefix } = wildcard
    const indexed = { ...wildcard, pattern, order: this.all.length, target }
    this.all.push(indexed)
    const hash = extendHash(0, prefix, 0, prefix.length)
    const alike = this.#byHash.get(hash)
    if (alike === undefined) this.#byHash.set(hash, [indexed])
    else alike.push(indexed)
    if (this.#lengths.includes(prefix.length)) return
    this.#lengths.push(prefix.length)
    this.#lengths.sort((one, other) => one - other)
  }

  find(value: string): Target | undefined {
    let best: IndexedWildcard<Target> | undefined
    let hash = 0
    let hashed = 0
    for (const length of this.#lengths) {
      if (length > value.length) break
      hash = extendHash(hash, value, hashed, length)
      hashed = length
      const alike = this.#byHash.get(hash)
      if (alike === undefined) continue
      for (const candidate of alike) {
        if (best !== undefined && candidate.order > best.order) break
        if (matchesWildcard(candidate, value)) {
          best = candidate
          break
        }
      }
    }
    return best?.target
  }
}

/** Takes the text from `from` to `to` into the hash of what stands before it. */
function extendHash(hash: number, text: string, from: number, to: number): number {
  let extended = hash
  for (let i = from; i < to; i += 1) extended = (Math.imul(extended, 31) + text.charCodeAt(i)) | 0
  return extended
}
