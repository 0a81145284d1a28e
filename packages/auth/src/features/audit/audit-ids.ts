import { randomBytes } from 'node:crypto'

let lastMs = 0
let counter = 0

/**
 * An id that is greater than all that this process made before (UUID version 7, RFC 9562 6.2): entries of one
 * request often have the same time, and are listed in the order in which they happened.
 */
export function createAuditId(): string {
  const nowMs = Date.now()
  counter = nowMs > lastMs ? 0 : counter + 1
  lastMs = Math.max(lastMs, nowMs)
  if (counter > 0xfff) {
    lastMs += 1
    counter = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const random = randomBytes(8)
  random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x80, 0)
  const rest = random.toString('hex')
  const place = counter.toString(16).padStart(3, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${place}-${rest.slice(0, 4)}-${rest.slice(4)}`
}
