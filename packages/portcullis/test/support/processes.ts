import { setTimeout as sleep } from 'node:timers/promises'
import { listProcesses, type RunningProcess } from '@portcullis/test-servers'
import { readStartOf } from '../../src/up/data-folder.ts'

/** Returns a process and all its descendants, itself first. */
export function findFamily(pid: number): readonly RunningProcess[] {
  const all = listProcesses()
  const family = all.filter((row) => row.pid === pid)
  for (const member of family) family.push(...all.filter((row) => row.parent === member.pid))
  return family
}

/** Resolves when none of the processes exists any more; the timeout of the test limits the wait. */
export async function waitUntilExited(family: readonly RunningProcess[]): Promise<void> {
  for (const { pid } of family) {
    while (readStartOf(pid) !== undefined) await sleep(20)
  }
}
