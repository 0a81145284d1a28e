import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { user } from './data-folder.ts'
import { findOccupant, readPostmasterFile } from './occupant.ts'

/** `postgres://…`, through a socket that only its user can use, so without a password. */
export function toSocketUrl(socketFolder: string): string {
  return `postgres://${user}@localhost/${user}?host=${encodeURIComponent(socketFolder)}`
}

const pauseMs = 50
const patienceMs = 30_000

/**
 * Where the PostgreSQL of a folder answers that another process runs; undefined where none does. One
 * that is just starting is waited for.
 */
export async function findRunningServer(folder: string): Promise<string | undefined> {
  const real = await realpath(folder).catch(() => undefined)
  if (real === undefined) return undefined
  const data = join(real, 'data')
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    if ((await findOccupant(data)).kind !== 'owned') return undefined
    const file = await readPostmasterFile(data)
    if (file?.isReady && file.socketFolder !== undefined) return toSocketUrl(file.socketFolder)
    await sleep(pauseMs)
  }
  return undefined
}
