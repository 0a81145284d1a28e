import { readdir, readFile } from 'node:fs/promises'

/** Nanoseconds on a core, by thread. */
export type CpuTimes = ReadonlyMap<string, number>

/**
 * What a process and those it has started have used so far, by the scheduler's own account. What
 * ends meanwhile is left out: servers here keep their threads and connections.
 */
export async function readCpuTimes(pid: number): Promise<CpuTimes> {
  const times = new Map<string, number>()
  for (const process of await listProcesses(pid)) {
    for (const thread of await readdir(`/proc/${process}/task`).catch(() => [])) {
      const text = await readFile(`/proc/${process}/task/${thread}/schedstat`, 'latin1').catch(
        () => '',
      )
      if (text !== '') times.set(thread, Number(text.split(' ')[0]))
    }
  }
  if (times.size === 0) {
    throw new Error(`The CPU time of process ${pid} cannot be read. Has it ended?`)
  }
  return times
}

async function listProcesses(pid: number): Promise<readonly number[]> {
  const found = [pid]
  // It grows while it is walked.
  for (const process of found) {
    for (const thread of await readdir(`/proc/${process}/task`).catch(() => [])) {
      const path = `/proc/${process}/task/${thread}/children`
      const text = await readFile(path, 'latin1').catch(() => '')
      found.push(...text.split(' ').filter(Boolean).map(Number))
    }
  }
  return found
}

export function toCpuSeconds(before: CpuTimes, after: CpuTimes): number {
  let nanoseconds = 0
  for (const [thread, time] of after) nanoseconds += time - (before.get(thread) ?? 0)
  return nanoseconds / 1e9
}

/** Resident memory of one process. */
export async function readResidentMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmRSS:\s*(\d+)/m.exec(text)?.[1] ?? Number.NaN) / 1024
}
