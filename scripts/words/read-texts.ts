import { globSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { covered, skippedFiles, skippedFolders } from './coverage.ts'

const extensions = ['ts', 'tsx', 'mjs', 'cjs', 'md', 'sql', 'sh', 'yaml', 'yml']

/** The content of the covered files by their path in the repository, sorted by path. */
export function readTexts(root: string): Map<string, string> {
  const isFile = (path: string) =>
    statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true
  const patterns = covered.map((path) =>
    isFile(path) ? path : `${path}/**/*.{${extensions.join(',')}}`,
  )
  const exclude = (path: string) => skippedFolders.includes(basename(path))
  const files = globSync(patterns, { cwd: root, exclude })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !skippedFiles.includes(file))
    .sort()
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
}
