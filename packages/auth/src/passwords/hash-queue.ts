import { ApiError } from '../errors.ts'

export interface HashQueueSettings {
  /** Hashes at work at the same time: more than there are cores only make each other slower. */
  readonly atOnce: number
  /** How many may wait; beyond, callers are told to come back. */
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
