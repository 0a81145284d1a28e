import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text of each module of each package, by its path in the repository. */
export function readSources(root: string): Map<string, string> {
  const files = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}
