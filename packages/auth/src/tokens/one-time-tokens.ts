import { createHash, createHmac, type KeyObject, randomBytes, randomInt } from 'node:crypto'
import type { KeyRing } from './key-ring.ts'

/** The purpose of a one-time token. A user has at most one of each. */
export const oneTimeTokenTypes = [
  'confirmation',
  'recovery',
  'email_change_current',
  'email_change_new',
  // For text messages. Separate types, because a user may have both an email and a phone token.
  'phone_confirmation',
  'phone_change',
  'reauthentication',
] as const
export type OneTimeTokenType = (typeof oneTimeTokenTypes)[number]

/** A code to type in and a token for links. Either one is sufficient. */
export interface OneTimeToken {
  readonly digits: string
  /** Opaque. Begins with `pkce_` if the link leads to a code instead of tokens. */
  readonly linkToken: string
}

/** The stored hashes, from which the token cannot be recovered. */
export interface StoredToken {
  readonly tokenHash: Buffer
  readonly otpHash: Buffer
}

export interface OneTimeTokens {
  create(digitCount: number, isPkce: boolean): OneTimeToken
  store(token: OneTimeToken, relatesTo: string): StoredToken
  hashLink(linkToken: string): Buffer
  /**
   * @param relatesTo the address or phone number that received the code; the code is valid only
   * with it.
   */
  hashDigits(digits: string, relatesTo: string): Buffer
  /**
   * All hashes, in hexadecimal, under which a code may be stored: one per key, because keys are
   * rotated.
   */
  findHashes(digits: string, relatesTo: string): readonly string[]
  /**
   * Stored instead of the hash of digits when the SMS gateway checks the digits. No digits that a
   * client sends have this hash.
   */
  hashApproval(relatesTo: string): Buffer
  /** All hashes, in hexadecimal, under which an approval may be stored. */
  findApprovalHashes(relatesTo: string): readonly string[]
}

export const pkcePrefix = 'pkce_'
/** Wrong codes after which the correct one no longer works. */
export const mostAttempts = 5

/**
 * @param keys shared by all processes of a database. Without a key, digits could be brute-forced
 * from the hash.
 */
export function createOneTimeTokens(keys: KeyRing): OneTimeTokens {
  const hashLink = (linkToken: string) =>
    createHash('sha256')
      .update(linkToken.replace(/^pkce_/, ''))
      .digest()
  const toHash = (key: KeyObject, digits: string, relatesTo: string) =>
    createHmac('sha256', key).update(`${relatesTo}\0${digits}`).digest()
  const hashDigits = (digits: string, relatesTo: string) =>
    toHash(keys.current(), digits, relatesTo)
  // A code relates to an address, a phone number or a UUID, never to this word.
  const toApproval = (key: KeyObject, relatesTo: string) => toHash(key, relatesTo, 'gateway')
  return {
    create(digitCount, isPkce) {
      const digits = String(randomInt(10 ** digitCount)).padStart(digitCount, '0')
      const random = randomBytes(28).toString('hex')
      return { digits, linkToken: isPkce ? `${pkcePrefix}${random}` : random }
    },
    store: ({ digits, linkToken }, relatesTo) => ({
      tokenHash: hashLink(linkToken),
      otpHash: hashDigits(digits, relatesTo),
    }),
    hashLink,
    hashDigits,
    findHashes: (digits, relatesTo) =>
      keys.all().map((key) => toHash(key, digits, relatesTo).toString('hex')),
    hashApproval: (relatesTo) => toApproval(keys.current(), relatesTo),
    findApprovalHashes: (relatesTo) =>
      keys.all().map((key) => toApproval(key, relatesTo).toString('hex')),
  }
}
