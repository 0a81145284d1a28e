import { hashText } from './hash-slots.ts'

/*
 * Measured with 1,000,000 keys (bench/hot.bench.ts, CPU time on an overloaded machine with 2 cores, four runs): the slowest 100
 * insertions take 11 to 24 ms, in one `Map` 46 to 85 ms. An insertion takes 1.1 to 1.8 µs, in a `Map` 0.7 to 1.0. The
 * statistics of a large configuration are created while decisions are made, so the longest pause matters and the total does not.
 */

/** A power of two. */
const parts = 16

/**
 * A map for hundreds of thousands of entries, in insertion order. A full `Map` rehashes all of its entries
 * at once, which takes longer than a decision may wait; this one rehashes only a part of them at a time.
 */
export class LargeMap<Value> {
  readonly #parts = Array.from({ length: parts }, () => new Map<string, Value>())
  readonly #keys: string[] = []
  readonly #values: Value[] = []

  get size(): number {
    return this.#keys.length
  }

  get(key: string): Value | undefined {
    return this.#partOf(key).get(key)
  }

  /** The key must not exist yet. */
  add(key: string, value: Value): void {
    this.#partOf(key).set(key, value)
    this.#keys.push(key)
    this.#values.push(value)
  }

  /** Entries that are added during the iteration are included. */
  *entries(): Generator<[string, Value]> {
    for (let i = 0; i < this.#keys.length; i += 1) {
      const [key, value] = [this.#keys[i], this.#values[i]]
      if (key !== undefined && value !== undefined) yield [key, value]
    }
  }

  #partOf(key: string): Map<string, Value> {
    const hash = hashText(key)
    const part = this.#parts[(hash ^ (hash >>> 16)) & (parts - 1)]
    if (part === undefined) throw new RangeError('there is no such part')
    return part
  }
}
