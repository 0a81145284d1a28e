import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'

/** A process of this machine. Its number may be another's tomorrow, the pair with its start not. */
export interface ProcessFacts {
  readonly pid: number
  /** Word characters that differ from start to start. */
  readonly startedAt: string
  /** The whole command line. */
  readonly command: string
  /** Where the system tells us. */
  readonly folder: string | undefined
}

/** Undefined when no process has this number. */
export function findProcess(pid: number): ProcessFacts | undefined {
  return process.platform === 'linux' ? readProc(pid) : askPs(pid)
}

/** What names a process beyond doubt: `4711-9038221`. */
export function toMark({ pid, startedAt }: ProcessFacts): string {
  return `${pid}-${startedAt}`
}

export function findByMark(mark: string): ProcessFacts | undefined {
  const found = findProcess(Number(mark.split('-')[0]))
  return found && toMark(found) === mark ? found : undefined
}

export function toOwnMark(): string {
  const own = findProcess(process.pid)
  return own ? toMark(own) : `${process.pid}-unknown`
}

function readProc(pid: number): ProcessFacts | undefined {
  try {
    // The second field is the program's name in parentheses, with anything in it.
    const [, rest = ''] = /^.*\)\s(.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    const fields = rest.split(' ')
    const [state] = fields
    const startedAt = fields[19]
    if (startedAt === undefined || state === 'Z' || state === 'X') return undefined
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid, startedAt, command, folder: readFolder(pid) }
  } catch {
    return undefined
  }
}

/** Only of our own processes, and root of all. */
function readFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

function askPs(pid: number): ProcessFacts | undefined {
  try {
    const ask = (field: string) =>
      execFileSync('ps', ['-ww', '-o', `${field}=`, '-p', `${pid}`], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
    if (ask('stat').startsWith('Z')) return undefined
    const startedAt = ask('lstart').replace(/\W+/g, '_')
    return { pid, startedAt, command: ask('args'), folder: undefined }
  } catch {
    return undefined
  }
}
