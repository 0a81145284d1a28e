import type { HashQueue } from './hash-queue.ts'
import { findPasswordFormat, passwordFormats } from './password-formats.ts'
import { createUnusableHash } from './unusable-hash.ts'

export interface Passwords {
  /** As it is stored. */
  hash(password: string): Promise<string>
  /**
   * Whether it is the password of that hash. Undefined stands for a user who has none or does not
   * exist: it costs the same, so that time tells nothing.
   */
  check(password: string, hash: string | undefined): Promise<CheckedPassword>
  /** Spends the time of a hash, where an answer without one would give something away. */
  pretend(password: string): Promise<void>
}

export interface CheckedPassword {
  readonly isRight: boolean
  /** Whether the hash should be made anew: it was imported, or is of another strength. */
  readonly isOutdated: boolean
}

export function createPasswords(queue: HashQueue): Passwords {
  const { bcrypt } = passwordFormats
  const decoy = createUnusableHash()
  return {
    hash: (password) => queue.run(() => bcrypt.hash(password)),
    async check(password, hash = decoy) {
      const format = findPasswordFormat(hash)
      if (format === undefined) return { isRight: false, isOutdated: false }
      const matches = await queue.run(() => format.verify(password, hash))
      return { isRight: matches && hash !== decoy, isOutdated: format.isOutdated(hash) }
    },
    async pretend(password) {
      await queue.run(() => bcrypt.verify(password, decoy))
    },
  }
}
