// A process that generates load, controlled in three steps, so that the parent can read the
// servers' CPU time right before and after the load: a job (connect), "run", "close".

import { answerParent } from './answer-parent.ts'
import type { Child } from './child.ts'
import { readCpuTimes, toCpuSeconds } from './process-usage.ts'

/** The connections are open, so that `run` only sends load. */
export interface PreparedLoad<Outcome extends object> {
  run(): Promise<Outcome>
  close(): void
}

/** The only function that a load module has to call. */
export function runLoadJobs<Job extends object, Outcome extends object>(
  prepare: (job: Job) => Promise<PreparedLoad<Outcome>>,
): void {
  let load: PreparedLoad<Outcome> | undefined
  answerParent(async (message: Job | 'run' | 'close') => {
    if (message === 'close') {
      load?.close()
      return {}
    }
    if (message === 'run') {
      if (!load) throw new Error('No job was given before "run"')
      return load.run()
    }
    load = await prepare(message)
    return {}
  })
}

export interface MeasuredLoad<Outcome> {
  readonly outcome: Outcome
  /** The CPU time that each of the processes has used meanwhile, in the same order. */
  readonly cpuSeconds: readonly number[]
}

/** @param pids the processes whose CPU time is measured. */
export async function runLoad<Outcome>(
  load: Child,
  job: object,
  pids: readonly number[] = [],
): Promise<MeasuredLoad<Outcome>> {
  await load.request(job)
  const before = await Promise.all(pids.map(readCpuTimes))
  const outcome = await load.request<Outcome>('run')
  const after = await Promise.all(pids.map(readCpuTimes))
  await load.request('close')
  const cpuSeconds = after.map((times, at) => toCpuSeconds(before[at] ?? new Map(), times))
  return { outcome, cpuSeconds }
}
