/** The hash of an empty text. */
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

/** Every bit of `hash` affects every bit of the result. */
export function mixBits(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
