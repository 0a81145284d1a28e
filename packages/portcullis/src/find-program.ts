import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Finds the file behind a package's command: TypeScript in the repository, compiled in a published package. */
export function findProgram(packageName: string): string {
  const manifestUrl = import.meta.resolve(`${packageName}/package.json`)
  const { bin }: { bin: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(fileURLToPath(manifestUrl), 'utf8'),
  )
  const [program] = Object.values(bin)
  if (program === undefined) throw new Error(`${packageName} has no command`)
  return fileURLToPath(new URL(program, manifestUrl))
}
