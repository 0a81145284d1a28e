export interface Generations<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
}

/**
 * A map that forgets. Two generations instead of a list of uses: when the young one is full it
 * becomes the old one, and what is still asked for is carried over. Constant cost whatever is sent,
 * no bookkeeping on a hit, and a flood of new keys cannot push out what is in use.
 *
 * @param maxEntries - the largest number of entries of each generation.
 * @param maxWeight - the largest total weight of each generation. An entry that is heavier is not kept.
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
        // With room for one entry only, there is none for an old generation.
        old = maxEntries < 1 ? new Map() : young
        young = new Map()
        weight = added
      }
      young.set(key, value)
    },
  }
  return generations
}
