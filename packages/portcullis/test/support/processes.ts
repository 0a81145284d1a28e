import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { readStartOf } from '../../src/up/process-start.ts'

interface Row {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

function listProcesses(): readonly Row[] {
  const text = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}

/** A process and all that it has started, itself first. */
export function findFamily(pid: number): readonly Row[] {
  const all = listProcesses()
  const family = all.filter((row) => row.pid === pid)
  for (const member of family) family.push(...all.filter((row) => row.parent === member.pid))
  return family
}

/** Resolves when none of them is left. The test's own time limit ends it otherwise. */
export async function waitUntilGone(family: readonly Row[]): Promise<void> {
  for (const { pid } of family) {
    while (readStartOf(pid) !== undefined) await sleep(20)
  }
}
