import { setTimeout as sleep } from 'node:timers/promises'
import { listProcesses, type RunningProcess } from '@portcullis/test-servers'
import { readStartOf } from '../../src/up/data-folder.ts'

/** A process and all that it has started, itself first. */
export function findFamily(pid: number): readonly RunningProcess[] {
  const all = listProcesses()
  const family = all.filter((row) => row.pid === pid)
  for (const member of family) family.push(...all.filter((row) => row.parent === member.pid))
  return family
}

/** Resolves when none of them is left. The test's own time limit ends it otherwise. */
export async function waitUntilGone(family: readonly RunningProcess[]): Promise<void> {
  for (const { pid } of family) {
    while (readStartOf(pid) !== undefined) await sleep(20)
  }
}
