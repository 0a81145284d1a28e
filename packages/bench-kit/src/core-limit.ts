import { mkdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { toReason } from '@portcullis/service-kit/text/reason'
import { listProcesses } from './process-usage.ts'

/** Where cgroup v1 has its groups of processes with limited CPU time. */
const groups = '/sys/fs/cgroup/cpu'
/** Short, so that a process at its limit waits for milliseconds. */
const periodMicroseconds = 10_000

/** A limit for the CPU time of processes. */
export interface CoreLimit {
  /** Removes the limit, after the processes have ended. */
  remove(): Promise<void>
}

/**
 * Limits a process and its descendants, together, to a number of cores, which may be a fraction. On a small machine,
 * this leaves cores for the programs around them.
 * @throws {Error} without the required rights.
 */
export async function limitCores(pid: number, cores: number): Promise<CoreLimit> {
  const folder = join(groups, `portcullis-bench-${pid}`)
  const write = (name: string, value: number) =>
    writeFile(join(folder, name), `${Math.round(value)}`)
  try {
    await mkdir(folder)
    await write('cpu.cfs_period_us', periodMicroseconds)
    await write('cpu.cfs_quota_us', cores * periodMicroseconds)
    for (const process of await listProcesses(pid)) await write('cgroup.procs', process)
  } catch (error) {
    throw new Error(
      `CPU time cannot be limited: ${toReason(error)}. This needs root, and cgroup v1 at ${groups}.`,
      { cause: error },
    )
  }
  return { remove: () => removeGroup(folder) }
}

const mostAttempts = 50
const retryMs = 100

/** Workers end a moment after the process that started them. */
async function removeGroup(folder: string): Promise<void> {
  for (let attempt = 1; attempt < mostAttempts; attempt++) {
    try {
      return await rmdir(folder)
    } catch {
      await wait(retryMs)
    }
  }
  await rmdir(folder)
}
