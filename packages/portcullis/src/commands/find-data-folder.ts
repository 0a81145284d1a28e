import { dirname, join, relative, resolve } from 'node:path'
import { UpRefusal } from '../up/errors.ts'
import { readPrivateFile } from '../up/private-files.ts'
import { findSecrets, parseSecrets, type Secrets, secretsFile } from '../up/secrets.ts'

/** What to do if no data folder was found, for messages. */
export const folderAdvice =
  'Run this command in the folder where you started portcullis up, or in a folder below it, or pass --data DIR.'

/** The help text of `--data`. */
export const dataMeaning =
  'data folder of portcullis up; default: .portcullis in this folder or in the nearest one above it'

/** The data folder of a `portcullis up`, which may not be running. */
export interface DataFolder {
  /** Relative to the current folder. */
  readonly path: string
  readonly secrets: Secrets
}

/**
 * Finds the data folder of `portcullis up`: the named one, or `.portcullis` in this folder or the nearest one
 * above it. Undefined if there is none.
 * @throws {UpRefusal} if a named folder cannot be used.
 */
export function findDataFolder(named: string | undefined): DataFolder | undefined {
  if (named !== undefined) return readNamed(named)
  for (let folder = resolve(), below = ''; folder !== below; folder = dirname(folder)) {
    const path = join(folder, '.portcullis')
    // In a shared folder such as /tmp, another user could place such a file; it is ignored.
    const secrets = findSecrets(path)
    if (secrets !== undefined) return { path: relative('', path), secrets }
    below = folder
  }
  return undefined
}

function readNamed(path: string): DataFolder {
  const secrets = parseSecrets(readPrivateFile(join(path, secretsFile)) ?? '')
  if (secrets !== undefined) return { path, secrets }
  throw new UpRefusal(
    `--data ${path}: the folder contains no valid ${secretsFile}. Name the folder that portcullis up uses.`,
  )
}
