import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** Who a data folder belongs to right now. */
export type Occupant =
  | { readonly kind: 'nobody' }
  /** The folder names a server whose number another program has got meanwhile. */
  | { readonly kind: 'recycled' }
  /** A server of ours, and the process that started it lives. */
  | { readonly kind: 'owned'; readonly pid: number; readonly ownerPid: number }
  /** A server of ours whose owner is gone. */
  | { readonly kind: 'orphan'; readonly pid: number }
  /** A server that somebody started by other means. */
  | { readonly kind: 'foreign'; readonly pid: number }

/** PostgreSQL accepts settings of strangers that have a dot; this one tells who started it. */
export const ownerSetting = 'portcullis.owner'

/** @param data its real path, free of links */
export async function findOccupant(data: string): Promise<Occupant> {
  const file = await readPostmasterFile(data)
  const found = file && findProcess(file.pid)
  if (!found) return { kind: 'nobody' }
  const { pid, command, folder } = found
  const [program = ''] = command.split(' ')
  const isPostgres = basename(program) === 'postgres'
  if (!isPostgres || (folder !== undefined && folder !== data)) return { kind: 'recycled' }
  const mark = command.match(/\bportcullis\.owner=(\S+)/)?.[1]
  if (mark === undefined) return { kind: 'foreign', pid }
  const owner = findByMark(mark)
  return owner ? { kind: 'owned', pid, ownerPid: owner.pid } : { kind: 'orphan', pid }
}

interface PostmasterFile {
  readonly pid: number
  readonly socketFolder: string | undefined
  /** Whether it accepts connections. */
  readonly isReady: boolean
}

/** A line per fact: number, data folder, start, port, socket folder, address, memory, state. */
export async function readPostmasterFile(data: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  return { pid, socketFolder: lines[4] || undefined, isReady: lines[7]?.trim() === 'ready' }
}

/** A process of this machine. Its number may be another's tomorrow, the pair with its start not. */
interface ProcessFacts {
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
function toMark({ pid, startedAt }: ProcessFacts): string {
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
