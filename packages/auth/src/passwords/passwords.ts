import { ApiError } from '../errors.ts'
import type { HashBox } from '../tokens/hash-box.ts'
import { findPasswordFormat, writtenFormats } from './formats/index.ts'
import type { WrittenFormat } from './formats/password-format.ts'
import { isHashable } from './password-policy.ts'

export interface Passwords {
  hash(password: string): Promise<NewHash>
  /** Returns a hash that another system has made in the form in which it is stored. */
  toStored(hash: string, userId: string): string
  /**
   * Whether the password is that of the user. Pass undefined for a user who does not exist: the check
   * takes the same time, as it does for a user without a password, so that timing reveals nothing. A
   * password that `isHashable` rejects never matches.
   * @throws {SettingError} if the key that encrypted the hash is unknown.
   */
  check(password: string, owner: PasswordOwner | undefined): Promise<CheckedPassword>
  /**
   * Creates a hash for a user without a password: no password matches it, and checking it takes the
   * usual time. It is not encrypted, because it protects nothing.
   */
  createUnusable(): string
}

/** A hash that is not encrypted yet, because the encryption depends on the user. */
export interface NewHash {
  /** Returns the form in which the hash is stored for this user. */
  toStored(userId: string): string
}

/** A user as stored. */
export interface PasswordOwner {
  readonly id: string
  /** The hash, encrypted if that is configured; null if the user has no password. */
  readonly encrypted_password: string | null
}

interface CheckedPassword {
  readonly isRight: boolean
  /**
   * Whether the hash should be replaced because its format or parameters are not the current ones.
   */
  readonly isOutdated: boolean
  /** The same hash, encrypted with the current key; undefined if it need not be encrypted again. */
  readonly reencrypted: string | undefined
}

export interface PasswordsParts {
  readonly queue: HashQueue
  readonly hashes: HashBox
  /** Default: bcrypt. */
  readonly written?: WrittenFormat
}

export function createPasswords({
  queue,
  hashes,
  written = writtenFormats.bcrypt,
}: PasswordsParts): Passwords {
  const decoy = written.createUnusable()
  // Encrypted, so that decrypting it takes the usual time.
  const noUser = { id: '', stored: hashes.seal(decoy, '') }
  const pretend = async (password: string): Promise<void> => {
    await queue.run(() => written.verify(isHashable(password) ? password : '', decoy))
  }
  return {
    async hash(password) {
      const hash = await queue.run(() => written.hash(password))
      return { toStored: (userId) => hashes.seal(hash, userId) }
    },
    toStored: hashes.seal,
    async check(password, owner) {
      const { id, stored } =
        owner && owner.encrypted_password !== null
          ? { id: owner.id, stored: owner.encrypted_password }
          : noUser
      const hash = hashes.open(stored, id)
      const format = findPasswordFormat(hash)
      if (format === undefined) {
        await pretend(password)
        return { isRight: false, isOutdated: false, reencrypted: undefined }
      }
      const isFit = isHashable(password)
      const matches = await queue.run(() => format.verify(isFit ? password : '', hash))
      const isRight = isFit && matches && hash !== decoy
      return {
        isRight,
        isOutdated: !written.isCurrent(hash),
        reencrypted: isRight && !hashes.isCurrent(stored) ? hashes.seal(hash, id) : undefined,
      }
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
