import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openClient } from '../connection/open-client.ts'
import { user } from './data-folder.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { findOccupant, readPostmasterFile } from './occupant.ts'

/** `postgres://…`, through a socket that only its user can use, so without a password. */
export function toSocketUrl(socketFolder: string): string {
  return `postgres://${user}@localhost/${user}?host=${encodeURIComponent(socketFolder)}`
}

const pauseMs = 50
const patienceMs = 30_000

/** @throws {EmbeddedPostgresError} where only another user may use it. */
async function checkAccess(url: string, data: string): Promise<void> {
  try {
    const client = await openClient(url, 'portcullis-auth')
    await client.end()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '28000')) throw error
    throw new EmbeddedPostgresError(
      'in_use',
      `${data} is in use by a server that another user runs, and only that user may use it meanwhile. ` +
        'Run this command as that user, or stop the server.',
      error,
    )
  }
}

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
    if (file?.isReady && file.socketFolder !== undefined) {
      const url = toSocketUrl(file.socketFolder)
      await checkAccess(url, data)
      return url
    }
    await sleep(pauseMs)
  }
  return undefined
}
