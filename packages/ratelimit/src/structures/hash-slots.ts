/*
 * Hash functions, and the hash tables of packed rules, which another thread builds; see hot/packed-rules.ts for the
 * measurements.
 */

/**
 * A table from hashes to places in another table, which is built once and then only read. A slot is two
 * words: the hash, and the place plus 1; 0 for an empty slot. A search continues until an empty slot, and
 * must compare the entries, because different entries can have the same hash.
 */
export type HashSlots = Int32Array<ArrayBuffer>

export const hashStart = 0x811c9dc5 | 0

/** Extends the hash of the preceding text by the text from `from` to `to`. */
export function extendHash(hash: number, text: string, from: number, to: number): number {
  let extended = hash
  for (let i = from; i < to; i += 1) {
    extended = Math.imul(extended ^ text.charCodeAt(i), 0x01000193)
  }
  return extended
}

export function hashText(text: string): number {
  return extendHash(hashStart, text, 0, text.length)
}

/** Combines the hash of a text with a row, because the same text occurs below many rows. */
export function hashBelow(row: number, textHash: number): number {
  return mixBits(Math.imul(row, 0x9e3779b1) ^ textHash)
}

/** Every bit of `hash` affects every bit of the result. */
export function mixBits(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** At least a third of the slots stays empty, so that searches end quickly. */
export function createSlots(places: number): HashSlots {
  const slots = 1 << Math.max(1, 32 - Math.clz32((places * 3) >> 1))
  return new Int32Array(slots * 2)
}

export function addToSlots(slots: HashSlots, hash: number, place: number): void {
  let at = firstSlot(slots, hash)
  while (slots[at + 1] !== 0) at = nextSlot(slots, at)
  slots[at] = hash
  slots[at + 1] = place + 1
}

export function firstSlot(slots: HashSlots, hash: number): number {
  return (hash << 1) & (slots.length - 1)
}

export function nextSlot(slots: HashSlots, at: number): number {
  return (at + 2) & (slots.length - 1)
}
