/** Milliseconds from one point to the next. */
export const stepMs = 5_000
const minuteSteps = 60_000 / stepMs
/** Points that are shown: a quarter of an hour. */
export const signInsCapacity = 180

export interface SignIns {
  add(at: number): void
  /** For each step, how many there were in the minute before it; the newest last. */
  perMinute(now: number): readonly number[]
  /** Whatever is older is of no interest. */
  oldest(now: number): number
}

/** Counts in steps of some seconds: the memory it takes does not depend on how many there are. */
export function countSignIns(): SignIns {
  const steps = new Map<number, number>()
  const toStep = (at: number) => Math.floor(at / stepMs)
  const oldestStep = (now: number) => toStep(now) - signInsCapacity - minuteSteps + 1
  return {
    add(at) {
      steps.set(toStep(at), (steps.get(toStep(at)) ?? 0) + 1)
    },
    oldest: (now) => oldestStep(now) * stepMs,
    perMinute(now) {
      for (const step of steps.keys()) if (step < oldestStep(now)) steps.delete(step)
      const points: number[] = []
      let sum = 0
      for (let step = oldestStep(now); step <= toStep(now); step += 1) {
        sum += (steps.get(step) ?? 0) - (steps.get(step - minuteSteps) ?? 0)
        points.push(sum)
      }
      return points.slice(-signInsCapacity)
    },
  }
}
