import { join, resolve } from 'node:path'
import { toLocalHost } from './addresses.ts'
import { findFolderUser } from './data-folder.ts'
import { authFile } from './parts/auth.ts'
import { readPrivateFile } from './private-files.ts'
import { createAdminKeys, parseSecrets, secretsFile } from './secrets.ts'

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
export function findRunningAuth(folder: string): RunningAuth | undefined {
  const path = resolve(folder)
  const port = findFolderUser(path)?.ports?.auth
  const secrets = parseSecrets(readPrivateFile(join(path, secretsFile)) ?? '')
  if (port === undefined || secrets === undefined) return undefined
  const [, host = '127.0.0.1'] =
    /^AUTH_API_HOST="([^"]*)"$/m.exec(readPrivateFile(join(path, authFile)) ?? '') ?? []
  return {
    url: `http://${toLocalHost(host)}:${port}`,
    key: createAdminKeys(secrets.jwtSecret),
  }
}
