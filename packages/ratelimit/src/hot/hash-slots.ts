import { mixBits } from '../structures/hash.ts'

/* The hash tables of packed rules, which another thread builds; see packed-rules.ts for the measurements. */

/**
 * A table from hashes to places in another table, which is built once and then only read. A slot is two
 * words: the hash, and the place plus 1; 0 for an empty slot. A search continues until an empty slot, and
 * must compare the entries, because different entries can have the same hash.
 */
export type HashSlots = Int32Array<ArrayBuffer>

/** Combines the hash of a text with a row, because the same text occurs below many rows. */
export function hashBelow(row: number, textHash: number): number {
  return mixBits(Math.imul(row, 0x9e3779b1) ^ textHash)
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
