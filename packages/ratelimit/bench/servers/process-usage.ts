import { readdir, readFile } from 'node:fs/promises'

/** CPU time of a process by thread, in milliseconds. */
export type CpuTimes = ReadonlyMap<string, number>

const clockTicksPerSecond = 100

/**
 * Reads the CPU time of any process of this machine. The scheduler's own account is exact to the
 * nanosecond; a kernel that does not show it still counts in ticks of 10 ms.
 */
export async function readCpuTimes(pid: number): Promise<CpuTimes> {
  const folder = `/proc/${pid}/task`
  const times = new Map<string, number>()
  try {
    const threads = await readdir(folder)
    const texts = await Promise.all(
      threads.map((thread) => readFile(`${folder}/${thread}/sched`, 'latin1').catch(() => '')),
    )
    threads.forEach((thread, index) => {
      const match = /sum_exec_runtime\s*:\s*([\d.]+)/.exec(texts[index] ?? '')
      if (match) times.set(thread, Number(match[1]))
    })
    if (times.size === 0) times.set('all', await readTicks(pid))
  } catch (error) {
    throw new Error(`The CPU time of process ${pid} cannot be read. Has it ended?`, {
      cause: error,
    })
  }
  return times
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
