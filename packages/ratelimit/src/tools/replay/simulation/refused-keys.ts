import type { ReplayedRule } from './observed-rules.ts'

export interface RefusedKey {
  /** As in the store, without the start of the window. */
  readonly key: string
  readonly rule: ReplayedRule
  refused: number
  readonly firstMs: number
  lastMs: number
}

/**
 * Which keys were refused how often, in bounded memory: when there are too many, those with the
 * fewest refusals are forgotten, so that who is refused most is always known.
 */
export class RefusedKeys {
  readonly #most: number
  readonly #keys = new Map<string, RefusedKey>()
  /** A key may have been refused so many times more than is known. */
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

  /** The keys refused most, of equals the first in the alphabet. */
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
