import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { toCode } from '../text/reason.ts'

/**
 * Creates a folder and its missing parents. `mkdirSync` with `recursive` never returns on a file
 * system that rejects new folders as if the parent were missing, as `/proc` does.
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const code = toCode(error)
    if (code === 'EEXIST' && isFolder(path)) return
    if (code !== 'ENOENT' || isFolder(dirname(path))) throw error
    makeFolder(dirname(path), mode)
    makeFolder(path, mode)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
