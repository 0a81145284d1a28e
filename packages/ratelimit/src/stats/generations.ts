/**
 * A bounded map that drops entries that were not used for a long time. It has two generations: entries move
 * to the young one when they are used, and when that is full, the old one is dropped as a whole. A lookup of
 * a recently used key costs one `Map.get`, and the map is never scanned.
 */
export class Generations<Value> {
  readonly #capacity: number
  readonly #dropped: (values: ReadonlyMap<string, Value>) => void
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /**
   * @param capacity - the maximum number of entries
   * @param dropped - called with the entries that are dropped
   */
  constructor(capacity: number, dropped: (values: ReadonlyMap<string, Value>) => void) {
    this.#capacity = capacity
    this.#dropped = dropped
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.#old.delete(key)
    this.set(key, old)
    return old
  }

  /** Adds an entry whose key `get` did not find. */
  set(key: string, value: Value): void {
    if (this.#young.size >= this.#capacity >>> 1) {
      const dropped = this.#old
      this.#old = this.#young
      this.#young = new Map()
      if (dropped.size > 0) this.#dropped(dropped)
    }
    this.#young.set(key, value)
  }

  /** Removes and returns a value. */
  take(key: string): Value | undefined {
    const value = this.#young.get(key) ?? this.#old.get(key)
    this.#young.delete(key)
    this.#old.delete(key)
    return value
  }

  *entries(): Generator<[string, Value]> {
    yield* this.#old
    yield* this.#young
  }
}
