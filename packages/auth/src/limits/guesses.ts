import { ApiError } from '../errors.ts'
import type { LimiterName, RequestLimits } from './request-limits.ts'

/** A limit for wrong guesses. */
export interface GuessLimit {
  readonly limiter: LimiterName
  readonly key: string
  /** Whether a correct guess resets the count of wrong ones. */
  readonly endsWithSuccess?: boolean
  /** Called if the limit is reached. Resolves to whether this caller may guess nevertheless. */
  readonly isExempt?: () => Promise<boolean>
  /** The error if the limit is reached. */
  readonly toError?: (waitSeconds: number) => ApiError
}

export interface Guess {
  readonly isRight: boolean
}

export interface Guesses {
  /**
   * Checks a guess if all limits allow a further wrong one. Only wrong guesses count. A guess that
   * exceeds the limit only if the guesses before it are wrong waits for their results, so that any
   * number of concurrent correct guesses is accepted. @throws {ApiError}
   */
  guard<Checked extends Guess>(
    limits: readonly GuessLimit[],
    check: () => Promise<Checked>,
  ): Promise<Checked>
}

/** The undecided guesses of one key. */
interface GuessQueue {
  /** The number of guesses that run or wait. */
  present: number
  running: number
  /** Guesses are admitted one by one. Resolves when the previous one was admitted or rejected. */
  turn: Promise<void>
  /** Called when a running guess has ended. */
  onEnd: () => void
}

export function createGuesses(requestLimits: RequestLimits): Guesses {
  const queues = new Map<string, GuessQueue>()

  /** Returns the seconds to wait; 0 if a guess is allowed. */
  const findWait = async ({ limiter, key }: GuessLimit, queue: GuessQueue): Promise<number> => {
    for (;;) {
      // Read before `peek`, so that each other guess is either in this number or already counted.
      const { running } = queue
      const { left, waitSeconds } = await requestLimits.peek(limiter, key)
      if (running < left) return 0
      if (left < 1) return waitSeconds
      if (queue.running > 0) {
        await new Promise<void>((resolve) => {
          queue.onEnd = resolve
        })
      }
    }
  }

  /** @throws {ApiError} if the limit is reached. @returns a function to call after the guess. */
  const enter = async (limit: GuessLimit): Promise<() => void> => {
    const id = `${limit.limiter}\0${limit.key}`
    const queue = queues.get(id) ?? {
      present: 0,
      running: 0,
      turn: Promise.resolve(),
      onEnd: () => {},
    }
    queues.set(id, queue)
    queue.present += 1
    const leave = () => {
      queue.present -= 1
      if (queue.present === 0) queues.delete(id)
    }
    const before = queue.turn
    const { promise, resolve: endTurn } = Promise.withResolvers<void>()
    queue.turn = promise
    let waitSeconds: number
    try {
      await before
      waitSeconds = await findWait(limit, queue)
      if (waitSeconds === 0) queue.running += 1
    } catch (error) {
      leave()
      throw error
    } finally {
      endTurn()
    }
    if (waitSeconds === 0) {
      return () => {
        queue.running -= 1
        leave()
        queue.onEnd()
      }
    }
    leave()
    // Called after the turn was passed on, so that later guesses do not wait for it.
    if (await limit.isExempt?.()) return () => {}
    throw (limit.toError ?? tooManyGuesses)(waitSeconds)
  }

  return {
    async guard(limits, check) {
      const leaving: (() => void)[] = []
      try {
        for (const limit of limits) leaving.push(await enter(limit))
        const checked = await check()
        for (const { limiter, key, endsWithSuccess = false } of limits) {
          if (!checked.isRight) await requestLimits.take(limiter, key)
          else if (endsWithSuccess) await requestLimits.clear(limiter, key)
        }
        return checked
      } finally {
        for (const leave of leaving) leave()
      }
    },
  }
}

export function tooManyGuesses(waitSeconds: number): ApiError {
  return new ApiError('over_request_rate_limit', 'Request rate limit reached', {
    retryAfterSeconds: waitSeconds,
  })
}
