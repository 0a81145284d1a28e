// Which test files run in one process, one after the other.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './matrix.ts'

/**
 * Folders whose files get along with each other: none of them changes what the process has only once, or
 * measures it. To load a server costs more than most of these tests: together they take half the time.
 */
const folders: readonly RegExp[] = [
  /^packages\/auth\/test\/(?:client|config|core|endpoints|http|letter|limits|messages|providers|security)\//,
  /^packages\/graphql-over-http\/test\/(?:adapters-(?!bad-input)|audits|client(?!-memory)|handler|matrix|negotiate|node-body|options|params|profiles)/,
  /^packages\/grpc-unary\/test\//,
  /^packages\/ratelimit\/test\/(?:config|counters|decide|policy-tests|protocol|replay|rules|stats)\//,
]

/** Enough to make a process worth its while, and few enough to keep all cores busy to the end. */
const filesPerProcess = 6

/**
 * Replaces files that may share a process by ones that load several of them, which it writes below
 * `folder`.
 * @returns paths for `node --test`.
 */
export function shareProcesses(
  files: readonly string[],
  folder = join(root, '.cache', 'test-processes'),
): string[] {
  rmSync(folder, { recursive: true, force: true })
  const mayShare = (file: string) => folders.some((each) => each.test(file))
  const byFolder = Map.groupBy(files, (file) => mayShare(file) && dirname(file))
  return [...byFolder].flatMap(([name, members]) => {
    if (name === false || members.length < 2) return members
    const processCount = Math.ceil(members.length / filesPerProcess)
    return Array.from({ length: processCount }, (_, index) => {
      // Every so many, so that neighbours, which are often alike, are spread.
      const own = members.filter((_file, at) => at % processCount === index)
      // In a path like theirs: some tests look at it.
      const path = join(folder, name, `together-${index + 1}.test.ts`)
      writeImports(path, own)
      return path
    })
  })
}

function writeImports(path: string, files: readonly string[]): void {
  const urls = files.map((file) => pathToFileURL(join(root, file)).href)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, urls.map((url) => `import '${url}'\n`).join(''))
}
