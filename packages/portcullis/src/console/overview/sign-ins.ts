import type { RangeName } from './ranges.ts'

/** Milliseconds that one count of the auth server covers. */
export const stepMs = 10_000
const minuteSteps = 60_000 / stepMs
const dayMs = 86_400_000
const capacity = dayMs / stepMs

export interface SignInCount {
  readonly succeeded: number
  readonly failed: number
}

export interface SignInsPeriod {
  /** Seconds from one point to the next. */
  readonly stepSeconds: number
  /** Sign-ins per minute, the newest last; null where that is not known. */
  readonly succeeded: readonly (number | null)[]
  readonly failed: readonly (number | null)[]
  /** In the last minute. */
  readonly current: SignInCount | undefined
}

export interface SignIns {
  /** Adds to the step at that time. */
  add(at: number, count: SignInCount): void
  /** Forgets everything from that time on, to be read again. */
  forgetFrom(at: number): void
  /** From then on nothing is missing. */
  setKnownFrom(at: number): void
  read(range: RangeName, now: number): SignInsPeriod
}

/** How many steps make a point, and from how many steps it is calculated. */
const shapes: Readonly<Record<RangeName, { readonly every: number; readonly over: number }>> = {
  // Every point is the minute before it, so that the line is not a row of single spikes.
  '15m': { every: 1, over: minuteSteps },
  '1h': { every: minuteSteps, over: minuteSteps },
  '24h': { every: 15 * minuteSteps, over: 15 * minuteSteps },
}

const spans: Readonly<Record<RangeName, number>> = {
  '15m': 15 * minuteSteps,
  '1h': 60 * minuteSteps,
  '24h': capacity,
}

const none: SignInCount = { succeeded: 0, failed: 0 }

/** Keeps counts by step: the memory it takes does not depend on how many sign-ins there are. */
export function countSignIns(): SignIns {
  const steps = new Map<number, SignInCount>()
  let knownFrom = Number.POSITIVE_INFINITY
  const toStep = (at: number) => Math.floor(at / stepMs)

  function sum(last: number, count: number): SignInCount {
    let total = none
    for (let step = last - count + 1; step <= last; step += 1) {
      total = addCounts(total, steps.get(step) ?? none)
    }
    return total
  }

  return {
    add(at, count) {
      const step = toStep(at)
      steps.set(step, addCounts(steps.get(step) ?? none, count))
    },
    forgetFrom(at) {
      for (const step of steps.keys()) if (step >= toStep(at)) steps.delete(step)
    },
    setKnownFrom(at) {
      knownFrom = Math.min(knownFrom, at)
    },
    read(range, now) {
      const newest = toStep(now)
      for (const step of steps.keys()) {
        if (step < newest - capacity - minuteSteps) steps.delete(step)
      }
      const { every, over } = shapes[range]
      const minutes = over / minuteSteps
      const points: (SignInCount | null)[] = []
      for (let last = newest - spans[range] + every; last <= newest; last += every) {
        const isKnown = (last - over + 1) * stepMs >= knownFrom
        points.push(isKnown ? sum(last, over) : null)
      }
      const toRate = (count: number) => Math.round((count / minutes) * 100) / 100
      return {
        stepSeconds: (every * stepMs) / 1000,
        succeeded: points.map((point) => point && toRate(point.succeeded)),
        failed: points.map((point) => point && toRate(point.failed)),
        current: knownFrom < now ? sum(newest, minuteSteps) : undefined,
      }
    },
  }
}

function addCounts(left: SignInCount, right: SignInCount): SignInCount {
  return { succeeded: left.succeeded + right.succeeded, failed: left.failed + right.failed }
}
