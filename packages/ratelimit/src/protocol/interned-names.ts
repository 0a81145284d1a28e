const slots = 2_048
const longest = 64

const texts: string[] = new Array(slots).fill('')
const lengths = new Uint8Array(slots)
const bytes = new Uint8Array(slots * longest)

/**
 * Domains and keys come by the million and are few: the same bytes give the same string, so that
 * nothing is allocated and whoever looks it up in a map finds its hash already computed.
 * A slot keeps the latest text that fell into it, so memory is bounded whatever callers send.
 *
 * Undefined where the text is not ASCII or too long to be kept.
 */
export function internName(buffer: Buffer, start: number, end: number): string | undefined {
  const length = end - start
  if (length > longest) return undefined
  let hash = length
  let allBits = 0
  for (let at = start; at < end; at++) {
    const byte = buffer[at] ?? 0
    allBits |= byte
    hash = (Math.imul(hash, 31) + byte) | 0
  }
  if (allBits > 0x7f) return undefined

  const slot = (hash ^ (hash >>> 11) ^ (hash >>> 22)) & (slots - 1)
  const kept = slot * longest
  if (lengths[slot] === length && isSame(buffer, start, kept, length)) return texts[slot]

  const text = buffer.toString('latin1', start, end)
  bytes.set(buffer.subarray(start, end), kept)
  lengths[slot] = length
  texts[slot] = text
  return text
}

function isSame(buffer: Buffer, start: number, kept: number, length: number): boolean {
  for (let at = 0; at < length; at++) {
    if (buffer[start + at] !== bytes[kept + at]) return false
  }
  return true
}
