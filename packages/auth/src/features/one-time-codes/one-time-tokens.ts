import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto'
import type { AccountClaim } from '../../messages/statements/request-parts.ts'
import type { KeyRing } from '../../tokens/key-ring.ts'

/** What a one-time token is for; a user has at most one of each. */
export const oneTimeTokenTypes = [
  'confirmation',
  'recovery',
  'email_change_current',
  'email_change_new',
  // Of text messages: neither takes the place of the other, where a user has both.
  'phone_confirmation',
  'phone_change',
  'reauthentication',
] as const
export type OneTimeTokenType = (typeof oneTimeTokenTypes)[number]

/** A code for people and a token for links; either one is enough. */
export interface OneTimeToken {
  readonly digits: string
  /** Opaque; begins with `pkce_` where the link leads to a code instead of tokens. */
  readonly linkToken: string
}

/** What is stored of it: nobody who reads the table can use it. */
export interface StoredToken {
  readonly tokenHash: Buffer
  readonly otpHash: Buffer
}

export interface OneTimeTokens {
  create(digitCount: number, isPkce: boolean): OneTimeToken
  store(token: OneTimeToken, relatesTo: string): StoredToken
  hashLink(linkToken: string): Buffer
  /** @param relatesTo the address or number that received the code: it is no good for another. */
  hashDigits(digits: string, relatesTo: string): Buffer
  /** Every hash, in hexadecimal digits, under which a code may be stored: keys are replaced. */
  findHashes(digits: string, relatesTo: string): readonly string[]
}

/**
 * Of a request that says nothing about the account: a link to sign in or to recover it. What somebody
 * put into the account before, without having proven anything, goes when the link is used.
 */
export const claimsNothing: AccountClaim = {}

export const pkcePrefix = 'pkce_'
/** Wrong codes after which the right one no longer works. */
export const mostAttempts = 5

/** @param keys shared by all processes of a database: digits alone are soon guessed from a hash. */
export function createOneTimeTokens(keys: KeyRing): OneTimeTokens {
  const hashLink = (linkToken: string) =>
    createHash('sha256')
      .update(linkToken.replace(/^pkce_/, ''))
      .digest()
  const toHash = (key: Buffer, digits: string, relatesTo: string) =>
    createHmac('sha256', key).update(`${relatesTo}\0${digits}`).digest()
  const hashDigits = (digits: string, relatesTo: string) =>
    toHash(keys.current(), digits, relatesTo)
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
  }
}
