/**
 * The code of RFC 7541 appendix B, grouped by code length. It is written down independently of the
 * decoder in `src/`, so that the two can be compared.
 */
const PRINTABLE: Readonly<Record<number, string>> = {
  5: '012aceiost',
  6: ' %-./3456789=A_bdfghlmnpru',
  7: ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz',
  8: '&*,;XZ',
  10: '!"()?',
  11: "'+|",
  12: '#>',
  13: '$@[]~',
  14: '^}',
  15: '<`{',
  19: '\\',
}

const OTHERS: Readonly<Record<number, readonly number[]>> = {
  13: [0],
  19: [195, 208],
  20: [128, 130, 131, 162, 184, 194, 224, 226],
  21: [153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230],
  22: [
    129, 132, 133, 134, 136, 146, 154, 156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187,
    189, 190, 196, 198, 228, 232, 233,
  ],
  23: [
    1, 135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165, 166, 168,
    174, 175, 180, 182, 183, 188, 191, 197, 231, 239,
  ],
  24: [9, 142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237],
  25: [199, 207, 234, 235],
  26: [192, 193, 200, 201, 202, 205, 210, 213, 218, 219, 238, 240, 242, 243, 255],
  27: [
    203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245, 246, 247, 248, 250, 251, 252, 253, 254,
  ],
  28: [
    2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    127, 220, 249,
  ],
  30: [10, 13, 22],
}

const LONGEST = 30

const codes = new Uint32Array(256)
const lengths = new Uint8Array(256)
assignCodes()

/** Codes of the same length are consecutive, in the order of their symbols. */
function assignCodes(): void {
  let code = 0
  for (let length = 1; length <= LONGEST; length++) {
    const symbols = [...Buffer.from(PRINTABLE[length] ?? '', 'latin1'), ...(OTHERS[length] ?? [])]
    code *= 2
    for (const symbol of symbols.sort((a, b) => a - b)) {
      codes[symbol] = code++
      lengths[symbol] = length
    }
  }
}

/** Packs bits into bytes and pads the last byte with ones. */
export function encodeHuffman(bytes: Uint8Array): Buffer {
  const encoded: number[] = []
  let byte = 0
  let free = 8
  for (const symbol of bytes) {
    const code = codes[symbol] ?? 0
    for (let bit = (lengths[symbol] ?? 0) - 1; bit >= 0; bit--) {
      byte = (byte << 1) | ((code >>> bit) & 1)
      free--
      if (free > 0) continue
      encoded.push(byte)
      byte = 0
      free = 8
    }
  }
  if (free < 8) encoded.push((byte << free) | ((1 << free) - 1))
  return Buffer.from(encoded)
}
