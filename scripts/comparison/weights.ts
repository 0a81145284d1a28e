import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { countCodeLines, toKilobytes } from './page.ts'
import type { Installed } from './workspace.ts'

/** The cost of a library for its users: lines to write, packages to install, code to ship. */
export function toWeightRows(area: string, installed: readonly Installed[]): string[][] {
  const toRow = (title: string, toCell: (each: Installed) => string) => [
    title,
    ...installed.map(toCell),
  ]
  return [
    toRow('Lines for the task', ({ library }) => {
      const file = join(import.meta.dirname, 'programs', area, 'task', `${library.id}.mjs`)
      return String(countCodeLines(readFileSync(file, 'utf8')))
    }),
    toRow('Packages installed', ({ packageCount }) => String(packageCount)),
    toRow('Installed size', ({ bytes }) => toKilobytes(bytes)),
    toRow('Bundle, minified', ({ bundle }) => toKilobytes(bundle.minified)),
    toRow('Bundle, gzipped', ({ bundle }) => toKilobytes(bundle.gzipped)),
  ]
}
