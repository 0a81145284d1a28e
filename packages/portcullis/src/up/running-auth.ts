import { join } from 'node:path'
import { toLocalHost } from './addresses.ts'
import { findFolderUser } from './data-folder.ts'
import { authFile } from './parts/auth.ts'
import { readPrivateFile } from './private-files.ts'
import { createAdminKeys, type Secrets } from './secrets.ts'

/** The auth server of a running `up`. */
export interface RunningAuth {
  readonly url: string
  /** Returns a short-lived admin token. */
  readonly key: () => Promise<string>
}

/**
 * Finds the auth server that a `portcullis up` runs on a data folder.
 * @returns undefined if none is running there.
 * @throws {UpRefusal} if the files in the folder belong to another user
 */
export function findRunningAuth(folder: {
  readonly path: string
  readonly secrets: Secrets
}): RunningAuth | undefined {
  const port = findFolderUser(folder.path)?.ports?.auth
  if (port === undefined) return undefined
  return {
    url: `http://${toLocalHost(readHost(folder.path))}:${port}`,
    key: createAdminKeys(folder.secrets.jwtSecret),
  }
}

/** `up` writes the address that its auth server listens on into the file for its commands. */
function readHost(folder: string): string {
  const text = readPrivateFile(join(folder, authFile)) ?? ''
  return /^AUTH_API_HOST="([^"]*)"$/m.exec(text)?.[1] || '127.0.0.1'
}
