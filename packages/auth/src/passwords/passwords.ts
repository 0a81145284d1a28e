import { ApiError } from '../errors.ts'
import { findPasswordFormat, writtenFormats } from './formats/index.ts'
import type { WrittenFormat } from './formats/password-format.ts'
import { isHashable } from './password-policy.ts'

export interface Passwords {
  /** Returns the hash to store. */
  hash(password: string): Promise<string>
  /**
   * Whether the password matches the hash. Pass undefined for a user who does not exist or has no
   * password: the check takes the same time, so that timing reveals nothing. A password that
   * `isHashable` rejects never matches.
   */
  check(password: string, hash: string | undefined): Promise<CheckedPassword>
  /**
   * Creates a hash for a user without a password: no password matches it, and checking it takes the
   * usual time.
   */
  createUnusable(): string
}

interface CheckedPassword {
  readonly isRight: boolean
  /**
   * Whether the hash should be replaced because its format or parameters are not the current ones.
   */
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
  /** Concurrent hashes; more than the number of cores would only slow each other down. */
  readonly atOnce: number
  /** Maximum length of the queue; further requests are rejected with a retry delay. */
  readonly mostWaiting: number
}

export interface HashQueueState {
  readonly waiting: number
  readonly running: number
}

export interface HashQueue extends HashQueueState {
  run<Result>(hash: () => Promise<Result>): Promise<Result>
}

/**
 * Limits concurrent hashing, which takes about 70 ms of CPU time per password. Without a limit, a
 * burst of sign-ins would delay all requests until they time out, and the hashing would be wasted.
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
