import { randomBytes } from 'node:crypto'
import type { WrittenFormat } from './password-format.ts'

const pattern =
  /^\$argon2(?:id|i)\$v=19\$m=(?<memory>\d{1,7}),t=(?<time>\d{1,2}),p=(?<lanes>\d{1,2})\$(?<salt>[A-Za-z0-9+/]+)\$(?<hash>[A-Za-z0-9+/]+)$/

/** The minimum that OWASP recommends: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const prefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`

export const argon2id: WrittenFormat = {
  names: ['argon2i', 'argon2id'],
  example: 'argon2i or argon2id ($argon2id$v=19$…)',
  accepts: (text) => {
    const { memory, time, lanes, salt = '', hash = '' } = pattern.exec(text)?.groups ?? {}
    const [m, t, p] = [Number(memory), Number(time), Number(lanes)]
    // The lower bounds of RFC 9106; with smaller values, verification would throw instead of
    // returning false.
    return (
      p >= 1 &&
      p <= 16 &&
      t >= 1 &&
      t <= 20 &&
      m >= 8 * p &&
      m <= 2 ** 20 &&
      countBytes(salt) >= 8 &&
      countBytes(hash) >= 4
    )
  },
  verify: async (password, hash) => (await load()).verify(hash, password),
  hash: async (password) => (await load()).hash(password, cost),
  isCurrent: (hash) => hash.startsWith(prefix),
  createUnusable: () => `${prefix}${toRandomBase64(16)}$${toRandomBase64(32)}`,
}

/** Loaded on demand: the settings need only the names of the formats. */
function load() {
  return import('@node-rs/argon2')
}

/** NaN if it is not canonical base64. */
function countBytes(text: string): number {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64').replaceAll('=', '') === text ? bytes.length : Number.NaN
}

/** Without padding. */
function toRandomBase64(byteCount: number): string {
  return randomBytes(byteCount).toString('base64').replaceAll('=', '')
}
