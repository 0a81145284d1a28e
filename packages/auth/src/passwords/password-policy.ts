import { setTimeout } from 'node:timers/promises'
import { ApiError, invalid } from '../errors.ts'
import { isStorableText } from '../features/users/metadata.ts'

export interface PasswordPolicy {
  readonly minLength: number
  /** Of each of these a password needs a character. */
  readonly requiredSets: readonly string[]
  /** Undefined: nobody is asked. */
  readonly leaks?: LeakedPasswords | undefined
}

export interface LeakedPasswords {
  /** @throws {ApiError} where that cannot be told, and must be. */
  has(password: string): Promise<boolean>
}

export interface Weakness {
  readonly message: string
  readonly reasons: readonly ('length' | 'characters' | 'pwned')[]
}

/** bcrypt ignores every byte after these, so a longer password would be equal to its beginning. */
const mostBytes = 72

/**
 * Whether no other text has the same hash. bcrypt repeats a password with a zero byte in between,
 * so that `ab` and `ab\0ab` are the same to it; and all halves of surrogate pairs are one character
 * in UTF-8.
 */
export function isHashable(password: string): boolean {
  return Buffer.byteLength(password) <= mostBytes && isStorableText(password)
}

/** Undefined: strong enough. @throws {ApiError} where that cannot be told, and must be. */
export async function findWeakness(
  password: string,
  policy: PasswordPolicy,
): Promise<Weakness | undefined> {
  const found = checks.flatMap(({ reason, toMessage, isMet }) =>
    isMet(password, policy) ? [] : [{ reason, message: toMessage(policy) }],
  )
  // Whatever else is wrong with it: the next one should not have leaked either.
  if (await policy.leaks?.has(password)) found.push({ reason: 'pwned', message: leaked })
  if (found.length === 0) return undefined
  return {
    message: found.map(({ message }) => message).join(' '),
    reasons: found.map(({ reason }) => reason),
  }
}

const leaked = 'Password is known to be weak and easy to guess, please choose a different one.'

/** At login it is a hint, and nobody waits for it long. */
const patienceMs = 1_000

/** Undefined: strong enough as far as could be told in time. */
export async function noticeWeakness(
  password: string,
  policy: PasswordPolicy,
): Promise<Weakness | undefined> {
  if (policy.leaks === undefined) return findWeakness(password, policy)
  const waiting = new AbortController()
  const patience = setTimeout(patienceMs, undefined, { signal: waiting.signal })
  try {
    return await Promise.race([findWeakness(password, policy), patience])
  } catch {
    return undefined
  } finally {
    waiting.abort()
  }
}

/** @throws {ApiError} */
export function requireHashable(password: string): void {
  if (Buffer.byteLength(password) > mostBytes) {
    throw invalid('Password cannot be longer than 72 characters')
  }
  if (!isHashable(password)) throw invalid('Password has a character that cannot be stored')
}

/** @throws {ApiError} */
export async function checkPassword(password: string, policy: PasswordPolicy): Promise<void> {
  requireHashable(password)
  const weakness = await findWeakness(password, policy)
  if (weakness === undefined) return
  const { message, reasons } = weakness
  throw new ApiError('weak_password', message, { weakPassword: { reasons } })
}

interface Check {
  readonly reason: Weakness['reasons'][number]
  isMet(password: string, policy: PasswordPolicy): boolean
  toMessage(policy: PasswordPolicy): string
}

const checks: readonly Check[] = [
  {
    reason: 'length',
    // In characters, as people count, and not in bytes.
    isMet: (password, { minLength }) => [...password].length >= minLength,
    toMessage: ({ minLength }) => `Password should be at least ${minLength} characters.`,
  },
  {
    reason: 'characters',
    isMet: (password, { requiredSets }) =>
      requiredSets.every((set) => [...set].some((character) => password.includes(character))),
    toMessage: ({ requiredSets }) =>
      `Password should contain at least one character of each: ${requiredSets.join(', ')}.`,
  },
]
