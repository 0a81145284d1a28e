/**
 * A bounded map that forgets what was not used for long. Two generations: what is used moves to
 * the young one, and when that is full the old one is dropped as a whole. A look-up of a key in
 * use costs one `Map.get`, and nothing is ever scanned.
 */
export class Generations<Value> {
  readonly #capacity: number
  readonly #dropped: (values: ReadonlyMap<string, Value>) => void
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  /** @param capacity the most that is ever held. @param dropped is given what is forgotten. */
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

  /** For a key that `get` did not find. */
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
