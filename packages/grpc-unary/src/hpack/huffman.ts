import { byteAt } from '../bytes.ts'

/**
 * The code lengths of RFC 7541 appendix B for the symbols 0 to 256 (the last is the end of string),
 * one base-36 digit each. The code is canonical: codes of the same length are consecutive in symbol
 * order, so the lengths determine the code.
 */
const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde' +
  '6f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmm' +
  'nqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu'

const END_OF_STRING = 256

/** A table entry with this bit refers to the table for the next eight bits. */
const LINK = 0x8000

/**
 * Tables of 256 entries, indexed by eight bits. An entry is a symbol and the number of bits that it
 * used (`symbol << 4 | bits`), a link to the next table, or 0 for an invalid code.
 */
const tables = buildTables()

function buildTables(): Uint16Array {
  const entries: number[] = new Array(256).fill(0)
  const lengths = Array.from(CODE_LENGTHS, (digit) => Number.parseInt(digit, 36))
  const symbols = lengths.map((length, symbol) => ({ length, symbol }))
  symbols.sort((a, b) => a.length - b.length || a.symbol - b.symbol)

  let code = 0
  let codeLength = 0
  for (const { length, symbol } of symbols) {
    code *= 2 ** (length - codeLength)
    codeLength = length
    // The end of string is never part of a valid string (RFC 7541 5.2), so it has no entry.
    if (symbol !== END_OF_STRING) place(entries, code, length, symbol)
    code++
  }
  return Uint16Array.from(entries)
}

function place(entries: number[], code: number, length: number, symbol: number): void {
  let table = 0
  let rest = length
  for (; rest > 8; rest -= 8) {
    const at = table * 256 + ((code >>> (rest - 8)) & 0xff)
    if (entries[at] === 0) {
      entries[at] = LINK | (entries.length / 256)
      for (let i = 0; i < 256; i++) entries.push(0)
    }
    table = (entries[at] ?? 0) & ~LINK
  }
  const first = table * 256 + ((code << (8 - rest)) & 0xff)
  entries.fill((symbol << 4) | rest, first, first + 2 ** (8 - rest))
}

/**
 * The maximum number of bytes that this many bytes of Huffman code can decode to (the shortest code
 * is 5 bits).
 */
export function maxDecodedLength(length: number): number {
  return Math.floor((length * 8) / 5)
}

/** Decodes into `target` and returns the number of bytes written, or -1 for an invalid code. */
export function decodeHuffman(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
): number {
  let written = 0
  let table = 0
  let window = 0
  let bits = 0
  for (let at = start; at < end; at++) {
    window = ((window << 8) | byteAt(source, at)) & 0xffff
    bits += 8
    while (bits >= 8) {
      const entry = tables[(table << 8) | ((window >>> (bits - 8)) & 0xff)] ?? 0
      if (entry === 0) return -1
      if (entry >= LINK) {
        table = entry & ~LINK
        bits -= 8
      } else {
        target[written++] = entry >>> 4
        bits -= entry & 15
        table = 0
      }
    }
  }

  while (bits > 0) {
    const missing = 8 - bits
    const padded = ((window << missing) | (0xff >>> bits)) & 0xff
    const entry = tables[(table << 8) | padded] ?? 0
    if (entry === 0 || entry >= LINK || (entry & 15) > bits) break
    target[written++] = entry >>> 4
    bits -= entry & 15
    table = 0
  }

  // RFC 7541 5.2: the padding is less than eight bits, all of them ones.
  const padding = (1 << bits) - 1
  return table === 0 && (window & padding) === padding ? written : -1
}
