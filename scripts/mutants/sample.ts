/** Chooses `count` items at random, the same ones for the same seed, and keeps their order. */
export function takeSample<Item>(items: readonly Item[], count: number, seed: number): Item[] {
  const next = createRandom(seed)
  const ranked = items.map((item, index) => ({ item, index, rank: next() }))
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .sort((a, b) => a.index - b.index)
    .map(({ item }) => item)
}

/** Mulberry32: numbers from 0 to 1 that depend only on the seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
