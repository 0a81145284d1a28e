import { randomBytes } from 'node:crypto'
import type { WrittenFormat } from './password-format.ts'

const pattern = /^\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53}$/

/** @param cost each increment doubles the work. */
export function createBcrypt(cost: number): WrittenFormat {
  return {
    names: ['bcrypt'],
    example: 'bcrypt ($2a$, $2b$, $2y$)',
    accepts: (hash) => {
      const found = readCost(hash)
      return found >= 4 && found <= 15
    },
    verify: async (password, hash) => (await load()).verify(password, hash),
    hash: async (password) => (await load()).hash(password, { cost }),
    // Any other cost is outdated, so that hashes with a lower cost are replaced.
    isCurrent: (hash) => readCost(hash) === cost,
    createUnusable: () => `$2b$${`${cost}`.padStart(2, '0')}$${toDigits(16)}${toDigits(23)}`,
  }
}

export const bcrypt = createBcrypt(10)

/** Loaded on demand: the settings need only the names of the formats. */
function load() {
  return import('@node-rs/bcrypt')
}

function readCost(hash: string): number {
  return Number(pattern.exec(hash)?.groups?.['cost'])
}

const standard = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** bcrypt has its own order of the same characters. */
const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Returns random bytes in this alphabet, without padding. */
function toDigits(byteCount: number): string {
  const text = randomBytes(byteCount).toString('base64').replaceAll('=', '')
  return text.replace(/./g, (digit) => alphabet.charAt(standard.indexOf(digit)))
}
