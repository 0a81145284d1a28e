import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** The server that currently uses a data folder. */
export type Occupant =
  | { readonly kind: 'none' }
  /** The folder names a process id that another program uses by now. */
  | { readonly kind: 'recycled' }
  /** A server of ours whose owner process is alive. */
  | { readonly kind: 'owned'; readonly pid: number; readonly ownerPid: number }
  /** A server of ours whose owner process has ended. */
  | { readonly kind: 'orphan'; readonly pid: number }
  /** A server that was not started by this program. */
  | { readonly kind: 'foreign'; readonly pid: number }

/**
 * PostgreSQL accepts unknown settings whose name contains a dot; this one identifies the process
 * that started it.
 */
export const ownerSetting = 'portcullis.owner'

/** @param data the real path, without symbolic links. */
export async function findOccupant(data: string): Promise<Occupant> {
  const file = await readPostmasterFile(data)
  const found = file && findProcess(file.pid)
  if (!found) return { kind: 'none' }
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
  /** Whether the server accepts connections. */
  readonly isReady: boolean
}

/**
 * Parses the lines of the file: pid, data folder, start time, port, socket folder, address, shared
 * memory, state.
 */
export async function readPostmasterFile(data: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  return { pid, socketFolder: lines[4] || undefined, isReady: lines[7]?.trim() === 'ready' }
}

/** A process of this machine. Process ids are reused, but a pair of id and start time is unique. */
interface ProcessFacts {
  readonly pid: number
  /** Word characters that differ for each start. */
  readonly startedAt: string
  /** The whole command line. */
  readonly command: string
  /** The working directory; undefined if the system does not report it. */
  readonly folder: string | undefined
}

/** Undefined if no process has this id. */
export function findProcess(pid: number): ProcessFacts | undefined {
  return process.platform === 'linux' ? readProc(pid) : runPs(pid)
}

/** Identifies a process uniquely: `4711-9038221`. */
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
    // The second field is the name of the program in parentheses, which may contain any character.
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

/** Readable for processes of the same user; root can read all. */
function readFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}

function runPs(pid: number): ProcessFacts | undefined {
  try {
    const read = (field: string) =>
      execFileSync('ps', ['-ww', '-o', `${field}=`, '-p', `${pid}`], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
    if (read('stat').startsWith('Z')) return undefined
    const startedAt = read('lstart').replace(/\W+/g, '_')
    return { pid, startedAt, command: read('args'), folder: undefined }
  } catch {
    return undefined
  }
}
