import { globSync } from 'node:fs'
import { join, sep } from 'node:path'

/** The paths of all files below a folder, with forward slashes, as in archives and imports. */
export function listFiles(folder: string): string[] {
  return globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .map((file) => file.replaceAll(sep, '/'))
    .sort()
}
