import { ApiError } from '../errors.ts'
import { findPasswordFormat, writtenFormats } from './formats/index.ts'
import type { WrittenFormat } from './formats/password-format.ts'
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

interface CheckedPassword {
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

interface HashQueueSettings {
  /** Hashes at work at the same time: more than there are cores only make each other slower. */
  readonly atOnce: number
  /** How many may wait; beyond, callers are told to come back. */
  readonly mostWaiting: number
}

export interface HashQueueState {
  readonly waiting: number
  readonly running: number
}

interface HashQueue extends HashQueueState {
  run<Result>(hash: () => Promise<Result>): Promise<Result>
}

/**
 * Hashing takes some 70 ms of a core. Without a bound a burst of logins would keep everybody waiting
 * until their time is over, and then have hashed in vain.
 */
export function createHashQueue({ atOnce, mostWaiting }: HashQueueSettings): HashQueue {
  const waiting: (() => void)[] = []
  let running = 0

  const leave = (): void => {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
  return {
    get waiting() {
      return waiting.length
    },
    get running() {
      return running
    },
    async run(hash) {
      if (running < atOnce) {
        running += 1
      } else if (waiting.length >= mostWaiting) {
        throw new ApiError(
          'hashing_overloaded',
          'Too many passwords are being checked, please retry after a moment.',
          { retryAfterSeconds: Math.ceil((waiting.length / atOnce) * 0.1) },
        )
      } else {
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
        })
      }
      try {
        return await hash()
      } finally {
        leave()
      }
    },
  }
}
