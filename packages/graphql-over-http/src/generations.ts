export interface Generations<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
}

/**
 * A map that forgets. Two generations instead of a list of uses: when the young one is full it
 * becomes the old one, and what is still asked for is carried over. Constant cost whatever is sent,
 * no bookkeeping on a hit, and a flood of new keys cannot push out what is in use.
 */
export function createGenerations<V>(maxEntries: number, maxLength: number): Generations<V> {
  let young = new Map<string, V>()
  let old = young
  let length = 0
  const generations: Generations<V> = {
    get(key) {
      let value = young.get(key)
      if (!value) {
        value = old.get(key)
        if (value) generations.set(key, value)
      }
      return value
    },
    /** Both bounds hold for each generation; the length is that of the keys. */
    set(key, value) {
      length += key.length
      if (young.size + 1 > maxEntries || length > maxLength) {
        // With room for one entry only, there is none for an old generation.
        old = maxEntries < 1 ? new Map() : young
        young = new Map()
        length = key.length
      }
      young.set(key, value)
    },
  }
  return generations
}
