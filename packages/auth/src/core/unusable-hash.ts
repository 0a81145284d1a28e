import { randomBytes } from 'node:crypto'

const standard = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
/** Of bcrypt, which has its own order of the same characters. */
const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * The hash of a password that nobody has and nobody can find: instead of hashing a random text, the
 * hash itself is random. To check a password against it costs what it always costs.
 */
export function createUnusableHash(): string {
  return `$2b$10$${toDigits(16)}${toDigits(23)}`
}

function toDigits(byteCount: number): string {
  const text = randomBytes(byteCount).toString('base64').replaceAll('=', '')
  return text.replace(/./g, (character) => alphabet.charAt(standard.indexOf(character)))
}
