import { globSync, lstatSync } from 'node:fs'
import { join } from 'node:path'

/** What the files below a folder weigh, in bytes. */
export function measureFolder(folder: string): number {
  return globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0)
}
