export interface Generations<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
}

/**
 * A bounded map with two generations instead of LRU bookkeeping. When the young generation is full,
 * it replaces the old one, and entries of the old generation that are read again move to the young
 * one. The cost per operation is constant, and a flood of new keys cannot evict entries in use.
 *
 * @param maxEntries - the maximum number of entries in each generation.
 * @param maxWeight - the maximum total weight of each generation. A heavier entry is not stored.
 * @param weigh - the weight of an entry; default: the length of its key.
 */
export function createGenerations<V>(
  maxEntries: number,
  maxWeight: number,
  weigh: (key: string, value: V) => number = (key) => key.length,
): Generations<V> {
  let young = new Map<string, V>()
  let old = young
  let weight = 0
  const generations: Generations<V> = {
    get(key) {
      let value = young.get(key)
      if (!value) {
        value = old.get(key)
        if (value) generations.set(key, value)
      }
      return value
    },
    set(key, value) {
      const added = weigh(key, value)
      if (added > maxWeight || maxEntries <= 0) return
      weight += added
      if (young.size + 1 > maxEntries || weight > maxWeight) {
        // With room for one entry only, there is no room for an old generation.
        old = maxEntries < 1 ? new Map() : young
        young = new Map()
        weight = added
      }
      young.set(key, value)
    },
  }
  return generations
}
