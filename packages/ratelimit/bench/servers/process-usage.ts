import { readdir, readFile } from 'node:fs/promises'

/** CPU time by thread, in milliseconds. */
export type CpuTimes = ReadonlyMap<string, number>

const clockTicksPerSecond = 100

/**
 * Reads the CPU time of any process of this machine and of those it has started. The scheduler's own
 * account is exact to the nanosecond; a kernel that does not show it still counts in ticks of 10 ms.
 */
export async function readCpuTimes(pid: number): Promise<CpuTimes> {
  try {
    const times = new Map(await readOwnTimes(pid))
    for (const child of await listDescendants(pid)) {
      // Those that have ended meanwhile are left out, as threads are.
      for (const [thread, time] of await readOwnTimes(child).catch(() => [])) {
        times.set(thread, time)
      }
    }
    return times
  } catch (error) {
    throw new Error(`The CPU time of process ${pid} cannot be read. Has it ended?`, {
      cause: error,
    })
  }
}

/** Threads of all processes have numbers of their own. */
async function readOwnTimes(pid: number): Promise<readonly (readonly [string, number])[]> {
  const folder = `/proc/${pid}/task`
  const threads = await readdir(folder)
  const texts = await Promise.all(
    threads.map((thread) => readFile(`${folder}/${thread}/sched`, 'latin1').catch(() => '')),
  )
  const times = threads.flatMap((thread, index) => {
    const match = /sum_exec_runtime\s*:\s*([\d.]+)/.exec(texts[index] ?? '')
    return match ? [[thread, Number(match[1])] as const] : []
  })
  return times.length > 0 ? times : [[`process ${pid}`, await readTicks(pid)]]
}

async function listDescendants(pid: number): Promise<number[]> {
  const found: number[] = []
  for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const path = `/proc/${pid}/task/${thread}/children`
    const text = await readFile(path, 'latin1').catch(() => '')
    for (const child of text.split(' ').filter(Boolean).map(Number)) {
      found.push(child, ...(await listDescendants(child)))
    }
  }
  return found
}

async function readTicks(pid: number): Promise<number> {
  return (
    (parseStatTicks(await readFile(`/proc/${pid}/stat`, 'latin1')) * 1000) / clockTicksPerSecond
  )
}

/** User and system time of a line of /proc/PID/stat; the program's name in it may hold anything. */
export function parseStatTicks(line: string): number {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** CPU-seconds between two readings. A thread that ended in between is left out. */
export function toCpuSeconds(before: CpuTimes, after: CpuTimes): number {
  let ms = 0
  for (const [thread, time] of after) ms += time - (before.get(thread) ?? 0)
  return ms / 1000
}
