import type { HashQueue } from './hash-queue.ts'
import { findPasswordFormat, type WrittenFormat, writtenFormats } from './password-formats.ts'
import { isHashable } from './password-policy.ts'

export interface Passwords {
  /** As it is stored. */
  hash(password: string): Promise<string>
  /**
   * Whether it is the password of that hash. Undefined stands for a user who has none or does not
   * exist: it costs the same, so that time tells nothing. A password that sign-up would refuse,
   * because others have the same hash, is wrong whatever the format of the hash.
   */
  check(password: string, hash: string | undefined): Promise<CheckedPassword>
  /** For somebody who has no password yet: one that none fits, and that costs what others cost. */
  createUnusable(): string
}

export interface CheckedPassword {
  readonly isRight: boolean
  /** Whether the hash should be made anew: it was imported, or is of another kind or strength. */
  readonly isOutdated: boolean
}

export function createPasswords(
  queue: HashQueue,
  written: WrittenFormat = writtenFormats.bcrypt,
): Passwords {
  const decoy = written.createUnusable()
  const pretend = async (password: string): Promise<void> => {
    await queue.run(() => written.verify(isHashable(password) ? password : '', decoy))
  }
  return {
    hash: (password) => queue.run(() => written.hash(password)),
    async check(password, hash = decoy) {
      const format = findPasswordFormat(hash)
      if (format === undefined) {
        await pretend(password)
        return { isRight: false, isOutdated: false }
      }
      const isFit = isHashable(password)
      const matches = await queue.run(() => format.verify(isFit ? password : '', hash))
      return { isRight: isFit && matches && hash !== decoy, isOutdated: !written.isCurrent(hash) }
    },
    createUnusable: written.createUnusable,
  }
}
