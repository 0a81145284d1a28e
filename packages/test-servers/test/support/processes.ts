import { execFileSync } from 'node:child_process'

interface Process {
  readonly pid: number
  readonly parent: number
}

/** Every process of the machine that still runs; one that only waits to be reaped does not. */
function listProcesses(): Process[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' })
  return lines.split('\n').flatMap((line) => {
    const [pid, parent, state] = line.trim().split(/\s+/)
    return state === undefined || state.startsWith('Z')
      ? []
      : [{ pid: Number(pid), parent: Number(parent) }]
  })
}

export function descendantsOf(pid: number, processes = listProcesses()): number[] {
  const children = processes.filter((candidate) => candidate.parent === pid)
  return children.flatMap((child) => [child.pid, ...descendantsOf(child.pid, processes)])
}

export function stillRunning(pids: readonly number[]): number[] {
  const running = new Set(listProcesses().map((candidate) => candidate.pid))
  return pids.filter((pid) => running.has(pid))
}
