import { readdir, readFile } from 'node:fs/promises'

/** Milliseconds of CPU time by thread. Thread ids are unique across processes. */
export type CpuTimes = ReadonlyMap<string, number>

const clockTicksPerSecond = 100

/**
 * The CPU time that a process of this machine and its descendants have used so far. The scheduler's
 * statistics are exact to the nanosecond; a kernel without them still counts in ticks of 10 ms.
 * Threads that end in between are left out, since servers keep their threads.
 */
export async function readCpuTimes(pid: number): Promise<CpuTimes> {
  try {
    const times = new Map(await readOwnTimes(pid))
    for (const child of (await listProcesses(pid)).slice(1)) {
      for (const [thread, ms] of await readOwnTimes(child).catch(() => [])) times.set(thread, ms)
    }
    return times
  } catch (error) {
    throw new Error(`The CPU time of process ${pid} cannot be read. Has it ended?`, {
      cause: error,
    })
  }
}

async function readOwnTimes(pid: number): Promise<readonly (readonly [string, number])[]> {
  const folder = `/proc/${pid}/task`
  const threads = await readdir(folder)
  const texts = await Promise.all(
    threads.map((thread) => readFile(`${folder}/${thread}/schedstat`, 'latin1').catch(() => '')),
  )
  const times = threads.flatMap((thread, index) => {
    const nanoseconds = Number.parseInt(texts[index] ?? '', 10)
    return nanoseconds > 0 ? [[thread, nanoseconds / 1e6] as const] : []
  })
  return times.length > 0 ? times : [[`process ${pid}`, await readTicks(pid)]]
}

async function readTicks(pid: number): Promise<number> {
  const ticks = parseStatTicks(await readFile(`/proc/${pid}/stat`, 'latin1'))
  return (ticks * 1000) / clockTicksPerSecond
}

/**
 * User and system time from a line of /proc/PID/stat, in which the program's name may contain
 * anything.
 */
export function parseStatTicks(line: string): number {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** CPU-seconds between two measurements. */
export function toCpuSeconds(before: CpuTimes, after: CpuTimes): number {
  let ms = 0
  for (const [thread, time] of after) ms += time - (before.get(thread) ?? 0)
  return ms / 1000
}

/** Resident memory of one process; 0 if it has ended but was not reaped yet. */
export async function readResidentMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'latin1')
  return Number(/^VmRSS:\s*(\d+)/m.exec(text)?.[1] ?? 0) / 1024
}

/** A process and all its descendants. */
export async function listProcesses(pid: number): Promise<readonly number[]> {
  const found = [pid]
  // The list grows during the iteration.
  for (const parent of found) {
    for (const thread of await readdir(`/proc/${parent}/task`).catch(() => [])) {
      const path = `/proc/${parent}/task/${thread}/children`
      const text = await readFile(path, 'latin1').catch(() => '')
      found.push(...text.split(' ').filter(Boolean).map(Number))
    }
  }
  return found
}
