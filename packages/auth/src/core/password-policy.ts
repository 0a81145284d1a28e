import { ApiError, invalid } from '../errors.ts'

export interface PasswordPolicy {
  readonly minLength: number
  /** Of each of these a password needs a character. */
  readonly requiredSets: readonly string[]
}

export interface Weakness {
  readonly message: string
  readonly reasons: readonly ('length' | 'characters' | 'pwned')[]
}

/** bcrypt looks at no more than these, so that a longer one would seem stronger than it is. */
const mostBytes = 72

/** Undefined: strong enough. */
export function findWeakness(password: string, policy: PasswordPolicy): Weakness | undefined {
  const found = checks.flatMap(({ reason, toMessage, isMet }) =>
    isMet(password, policy) ? [] : [{ reason, message: toMessage(policy) }],
  )
  if (found.length === 0) return undefined
  return {
    message: found.map(({ message }) => message).join(' '),
    reasons: found.map(({ reason }) => reason),
  }
}

/** @throws {ApiError} */
export function checkLength(password: string): void {
  if (Buffer.byteLength(password) <= mostBytes) return
  throw invalid('Password cannot be longer than 72 characters')
}

/** @throws {ApiError} */
export function checkPassword(password: string, policy: PasswordPolicy): void {
  checkLength(password)
  const weakness = findWeakness(password, policy)
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
