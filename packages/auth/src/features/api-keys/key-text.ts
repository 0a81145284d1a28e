import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * `pck_`, the ID of the key, the secret and a checksum. The prefix and the checksum let secret
 * scanners recognise keys without asking a server. All characters are letters and digits, so that a
 * double click selects a key.
 */
const prefix = 'pck_'
const idLength = 22
const secretLength = 43
const checksumLength = 6
const pattern = new RegExp(
  `^${prefix}([0-9A-Za-z]{${idLength}})[0-9A-Za-z]{${secretLength}}([0-9A-Za-z]{${checksumLength}})$`,
)

export interface KeyText {
  readonly id: string
  /** SHA-256 of the text. */
  readonly hash: Buffer
}

/** Creates the text of a key with a new secret of 256 random bits. */
export function createKeyText(id: string): string {
  const secret = toDigits(BigInt(`0x${randomBytes(32).toString('hex')}`), secretLength)
  const start = `${prefix}${toDigits(BigInt(`0x${id.replaceAll('-', '')}`), idLength)}${secret}`
  return start + toChecksum(start)
}

/** Whether the text is meant as a key, which may be invalid. */
export function isKeyText(text: string): boolean {
  return text.startsWith(prefix)
}

/** Undefined if the text cannot be a key, because its form or its checksum is wrong. */
export function parseKeyText(text: string): KeyText | undefined {
  const [, digits, checksum] = pattern.exec(text) ?? []
  if (digits === undefined || toChecksum(text.slice(0, -checksumLength)) !== checksum) {
    return undefined
  }
  const hex = fromDigits(digits).toString(16).padStart(32, '0')
  if (hex.length > 32) return undefined
  return { id: toUuid(hex), hash: toKeyHash(text) }
}

/** @param hex 32 digits. */
function toUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The secret is random, so a plain hash cannot be reversed by guessing. */
export function toKeyHash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * The ID that tokens of a secret have as `session_id`, so that they are revoked together with it. The function
 * `secret_id` in the database returns the same.
 */
export function toSecretId(hash: Buffer): string {
  return toUuid(createHash('sha256').update(hash).digest('hex').slice(0, 32))
}

/** The end of the text, which identifies a key for its owner and not for an attacker. */
export function toHint(text: string): string {
  return text.slice(-4)
}

/** Takes the same time for all hashes. */
export function isSameHash(shown: Buffer, stored: Buffer | null): boolean {
  return timingSafeEqual(shown, stored ?? Buffer.alloc(shown.length))
}

function toChecksum(text: string): string {
  return toDigits(BigInt(crc32(text)), checksumLength)
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = BigInt(digits.length)

function toDigits(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= base) text = digits.charAt(Number(rest % base)) + text
  return text.padStart(length, '0')
}

function fromDigits(text: string): bigint {
  let value = 0n
  for (const digit of text) value = value * base + BigInt(digits.indexOf(digit))
  return value
}
