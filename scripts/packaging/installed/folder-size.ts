import { globSync, lstatSync } from 'node:fs'
import { join } from 'node:path'

/** The total size of the files below a folder, in bytes. */
export function measureFolder(folder: string): number {
  return globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0)
}
