import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { findByMark, findProcess } from './processes.ts'

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

export interface PostmasterFile {
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
