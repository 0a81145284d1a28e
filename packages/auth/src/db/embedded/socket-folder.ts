import { statSync } from 'node:fs'
import { chown, mkdtemp, rmdir, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { socketFile } from './settings.ts'

const prefix = 'portcullis-pg-'

/** Says that the folder goes with the server that uses it. */
export const stoppingFile = 'stopping'

/** Of a socket's path, on the stingiest system (macOS), with the zero that ends it. */
const mostBytes = 103

function usualFolders(): readonly string[] {
  return [tmpdir(), '/tmp', '/var/tmp']
}

/**
 * A folder for the socket that nobody else can enter. Not beside the data: the path of a socket
 * must be short.
 */
export async function createSocketFolder(account: Account | undefined): Promise<string> {
  const candidates = usualFolders()
  const parent = candidates.find((folder) => isShort(folder) && (!account || isOpenToAll(folder)))
  if (parent === undefined) {
    throw new EmbeddedPostgresError(
      'failed_start',
      `None of ${candidates.join(', ')} can hold PostgreSQL's socket: set TMPDIR to a folder with ` +
        'a short path that everybody can enter.',
    )
  }
  const folder = await mkdtemp(join(parent, prefix))
  if (account) await chown(folder, account.uid, account.gid)
  return folder
}

function isShort(parent: string): boolean {
  return Buffer.byteLength(join(parent, `${prefix}XXXXXX`, socketFile)) <= mostBytes
}

function isOpenToAll(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  const mayEnter = (mode & 0o001) !== 0
  return mayEnter && (folder === dirname(folder) || isOpenToAll(dirname(folder)))
}

/** What a server that ended by force left in it would be in the way of the next one. */
export async function emptySocketFolder(folder: string): Promise<void> {
  for (const name of [socketFile, `${socketFile}.lock`, stoppingFile]) {
    await unlink(join(folder, name)).catch(() => undefined)
  }
}

/** Removes only what can be ours: the path may come from a file that others can write. */
export async function removeSocketFolder(folder: string): Promise<void> {
  const isOurs = basename(folder).startsWith(prefix) && usualFolders().includes(dirname(folder))
  if (!isOurs) return
  await emptySocketFolder(folder)
  await rmdir(folder).catch(() => undefined)
}
