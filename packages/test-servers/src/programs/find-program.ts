import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import type { Program } from './programs.ts'

/** The path of the program on this machine: first in PATH, then in the usual folders. */
export function findProgram(program: Program, path = process.env.PATH ?? ''): string | undefined {
  const onPath = program.ignoresPath ? [] : path.split(delimiter)
  const folders = [...onPath, ...program.places.flatMap(expandPlace)]
  for (const binary of program.binaries) {
    for (const folder of folders) {
      const found = findIn(folder, binary, program.beside ?? [])
      if (found) return found
    }
  }
  return undefined
}

function findIn(folder: string, binary: string, beside: readonly string[]): string | undefined {
  if (folder === '') return undefined
  const file = join(folder, binary)
  if (!isExecutable(file)) return undefined
  // If neighbouring files matter, a link such as in /usr/local/bin must be resolved to the real
  // folder.
  const real = beside.length > 0 ? realpathSync(file) : file
  return beside.every((name) => isExecutable(join(dirname(real), name))) ? real : undefined
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The existing folders that match a path with a `*`, highest version first. */
function expandPlace(place: string): string[] {
  const full = place.replace(/^~/, homedir())
  const [before, after] = full.split('*')
  if (before === undefined || after === undefined) return [full]
  const prefix = before.endsWith('/') ? '' : basename(before)
  const parent = prefix === '' ? before : dirname(before)
  if (!existsSync(parent)) return []
  return readdirSync(parent)
    .filter((name) => name.startsWith(prefix))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => join(parent, name) + after)
}
