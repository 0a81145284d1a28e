import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of an installed program with this name, or the path in an environment variable. */
export function findProgram(name: string, variable?: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const named = variable === undefined ? undefined : process.env[variable]
  return [...(named ? [named] : []), ...folders.map((folder) => join(folder, name))].find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
