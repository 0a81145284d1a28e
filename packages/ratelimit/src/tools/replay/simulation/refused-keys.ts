import type { ReplayedRule } from './observed-rules.ts'

export interface RefusedKey {
  /** The key in the store, without the start of the window. */
  readonly key: string
  readonly rule: ReplayedRule
  refused: number
  readonly firstMs: number
  lastMs: number
}

/**
 * Counts the refusals of keys in bounded memory: when there are too many keys, those with the fewest refusals
 * are dropped, so that the most refused ones are always known.
 */
export class RefusedKeys {
  readonly #most: number
  readonly #keys = new Map<string, RefusedKey>()
  /** The maximum number of refusals of a key that may be missing. */
  mostMissed = 0

  constructor(most = 100_000) {
    this.#most = most
  }

  add(key: string, rule: ReplayedRule, timeMs: number): void {
    const known = this.#keys.get(key)
    if (known !== undefined) {
      known.refused += 1
      known.lastMs = timeMs
      return
    }
    if (this.#keys.size >= this.#most) this.#forgetHalf()
    this.#keys.set(key, { key, rule, refused: 1, firstMs: timeMs, lastMs: timeMs })
  }

  /** Returns the most refused keys; equal ones in alphabetical order. */
  top(count: number): RefusedKey[] {
    return [...this.#keys.values()]
      .sort((a, b) => b.refused - a.refused || (a.key < b.key ? -1 : 1))
      .slice(0, count)
  }

  #forgetHalf(): void {
    const counts = [...this.#keys.values()].map(({ refused }) => refused).sort((a, b) => a - b)
    const border = counts[counts.length >> 1] ?? 0
    this.mostMissed += border
    for (const [key, { refused }] of this.#keys) if (refused <= border) this.#keys.delete(key)
  }
}
