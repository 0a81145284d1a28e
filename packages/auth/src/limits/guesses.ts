import { ApiError } from '../errors.ts'
import type { LimiterName, RequestLimits } from './request-limits.ts'

/** What wrong guesses are counted by. */
export interface GuessLimit {
  readonly limiter: LimiterName
  readonly key: string
  /** Whether a right guess forgets the wrong ones before it. */
  readonly endsWithSuccess?: boolean
  /** Asked where there is no room: whether this caller is allowed to guess nevertheless. */
  readonly isExempt?: () => Promise<boolean>
  /** What is said where there is no room. */
  readonly toError?: (waitSeconds: number) => ApiError
}

export interface Guess {
  readonly isRight: boolean
}

export interface Guesses {
  /**
   * Checks a guess where all limits have room for a wrong one. Right guesses are not counted, and any
   * number of them may come at once: what is beyond the room waits until it is known whether those
   * before were right. @throws {ApiError}
   */
  guard<Checked extends Guess>(
    limits: readonly GuessLimit[],
    check: () => Promise<Checked>,
  ): Promise<Checked>
}

/** The guesses with one key that are not decided yet. */
interface Lane {
  /** Those that are let in, or wait for it. */
  present: number
  running: number
  /** Resolves when the one before has been let in or refused: they ask for room one by one. */
  turn: Promise<void>
  /** Called when one of those that run has ended. */
  onEnd: () => void
}

export function createGuesses(requestLimits: RequestLimits): Guesses {
  const lanes = new Map<string, Lane>()

  /** How many seconds to wait; 0 where there is room. */
  const findWait = async ({ limiter, key }: GuessLimit, lane: Lane): Promise<number> => {
    for (;;) {
      // Before the room is looked at: each other guess is either in this number, or counted there.
      const { running } = lane
      const { left, waitSeconds } = await requestLimits.peek(limiter, key)
      if (running < left) return 0
      if (left < 1) return waitSeconds
      if (lane.running > 0) {
        await new Promise<void>((resolve) => {
          lane.onEnd = resolve
        })
      }
    }
  }

  /** @throws {ApiError} where there is no room. @returns what lets the next one in. */
  const enter = async (limit: GuessLimit): Promise<() => void> => {
    const id = `${limit.limiter}\0${limit.key}`
    const lane = lanes.get(id) ?? {
      present: 0,
      running: 0,
      turn: Promise.resolve(),
      onEnd: () => {},
    }
    lanes.set(id, lane)
    lane.present += 1
    const leave = () => {
      lane.present -= 1
      if (lane.present === 0) lanes.delete(id)
    }
    const before = lane.turn
    const { promise, resolve: endTurn } = Promise.withResolvers<void>()
    lane.turn = promise
    let waitSeconds: number
    try {
      await before
      waitSeconds = await findWait(limit, lane)
      if (waitSeconds === 0) lane.running += 1
    } catch (error) {
      leave()
      throw error
    } finally {
      endTurn()
    }
    if (waitSeconds === 0) {
      return () => {
        lane.running -= 1
        leave()
        lane.onEnd()
      }
    }
    leave()
    // Only now: those behind need not wait for it.
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
