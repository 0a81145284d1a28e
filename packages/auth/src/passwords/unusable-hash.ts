import { randomBytes } from 'node:crypto'

/*
 * Hashes of a password that nobody has and nobody can find: instead of hashing a random text, the hash
 * itself is random. To check a password against one costs what it always costs.
 */

const standard = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** Of bcrypt, which has its own order of the same characters. */
const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function createUnusableBcrypt(cost: number): string {
  const toDigits = (byteCount: number) =>
    toRandomBase64(byteCount).replace(/./g, (digit) => alphabet.charAt(standard.indexOf(digit)))
  return `$2b$${`${cost}`.padStart(2, '0')}$${toDigits(16)}${toDigits(23)}`
}

/** @param prefix up to the salt: kind, version and parameters. */
export function createUnusableArgon2(prefix: string): string {
  return `${prefix}${toRandomBase64(16)}$${toRandomBase64(32)}`
}

/** Without padding. */
function toRandomBase64(byteCount: number): string {
  return randomBytes(byteCount).toString('base64').replaceAll('=', '')
}
