export const slotCount = 16_384
const OPEN = 123
const CLOSE = 125

const table = new Uint16Array(256)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  table[byte] = crc
}

const scratch = Buffer.allocUnsafe(4096)

/**
 * The hash slot of the counter `<key><suffix>` in a Redis Cluster: CRC16 (XMODEM) of the name, or of
 * the part between its first `{` and the next `}` if that is not empty.
 * @param suffix - the window, or its replacement in the name of a sliding counter
 */
export function slotOf(key: string, suffix: number | string): number {
  const needed = key.length * 3 + 20
  const bytes = needed > scratch.length ? Buffer.allocUnsafe(needed) : scratch
  let end = bytes.write(key, 0)
  end += bytes.write(`${suffix}`, end)
  if (key.includes('{')) {
    const open = bytes.indexOf(OPEN)
    const close = bytes.indexOf(CLOSE, open)
    if (close > open + 1 && close < end) return toSlot(bytes, open + 1, close)
  }
  return toSlot(bytes, 0, end)
}

function toSlot(bytes: Buffer, start: number, end: number): number {
  let crc = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    crc = ((crc << 8) & 0xffff) ^ (table[((crc >> 8) ^ byte) & 0xff] ?? 0)
  }
  return crc & (slotCount - 1)
}
