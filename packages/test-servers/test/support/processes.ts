import { listProcesses } from '../../src/processes.ts'

export function descendantsOf(pid: number, processes = listProcesses()): number[] {
  const children = processes.filter((candidate) => candidate.parent === pid)
  return children.flatMap((child) => [child.pid, ...descendantsOf(child.pid, processes)])
}

export function stillRunning(pids: readonly number[]): number[] {
  const running = new Set(listProcesses().map((candidate) => candidate.pid))
  return pids.filter((pid) => running.has(pid))
}
