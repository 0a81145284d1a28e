import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

export interface RunningProcess {
  readonly pid: number
  readonly parent: number
  /** The command line, its arguments separated by spaces. */
  readonly command: string
}

/** Every running process of this machine, except zombies. */
export function listProcesses(): readonly RunningProcess[] {
  // Small Linux systems have no `ps`, but every Linux system has /proc.
  return process.platform === 'linux' ? readProc() : runPs()
}

function readProc(): readonly RunningProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The second field is the program's name in parentheses, which may contain anything.
      const [state = 'X', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (hasEnded(state)) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trimEnd()
      return [{ pid, parent: Number(parent), command }]
    } catch {
      // The process ended while the list was being read.
      return []
    }
  })
}

function runPs(): readonly RunningProcess[] {
  const args = ['-A', '-ww', '-o', 'pid=,ppid=,stat=,args=']
  const lines = execFileSync('ps', args, { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, state = 'Z', command = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return hasEnded(state) ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}

/** The resident memory of a process. */
export function readResidentMegabytes(pid: number): number {
  const kilobytes =
    process.platform === 'linux'
      ? /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
      : execFileSync('ps', ['-o', 'rss=', '-p', `${pid}`], { encoding: 'utf8' })
  return Number(kilobytes ?? 0) / 1024
}

const hasEnded = (state: string) => state.startsWith('Z') || state.startsWith('X')
