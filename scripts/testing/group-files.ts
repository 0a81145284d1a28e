import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, type TestFile } from './test-files.ts'

/** Enough to pay for loading a server, and few enough to keep all cores busy to the end. */
const filesPerProcess = 6

/**
 * Groups files of one folder that need the same servers, so that each group shares a process: loading a
 * server takes longer than most tests, and grouping halves the time of a run. A group is a generated test
 * file below `folder` that imports its members. Slow files come first and stay alone, so that no long
 * file is left running by itself at the end.
 * @returns paths for `node --test`.
 */
export function groupFiles(
  files: readonly TestFile[],
  folder = join(root, '.cache', 'test-processes'),
): string[] {
  rmSync(folder, { recursive: true, force: true })
  const slow = files.filter((file) => file.isSlow)
  const isAlone = (file: TestFile) => file.isolatedBecause !== undefined
  const groups = Map.groupBy(
    files.filter((file) => !file.isSlow),
    (file) => (isAlone(file) ? file.path : `${dirname(file.path)} ${file.servers.join()}`),
  )
  const paths = [...groups.values()].flatMap((members) => {
    const [first] = members
    if (!first || members.length < 2) return members.map((file) => file.path)
    const processCount = Math.ceil(members.length / filesPerProcess)
    return Array.from({ length: processCount }, (_, index) => {
      // Neighbours are often alike, so every n-th file spreads the expensive ones.
      const own = members.filter((_file, at) => at % processCount === index)
      const name = ['group', ...first.servers, index + 1].join('-')
      const path = join(folder, dirname(first.path), `${name}.test.ts`)
      writeGroup(path, own, first.servers)
      return path
    })
  })
  return [...slow.map((file) => file.path), ...paths]
}

function writeGroup(path: string, files: readonly TestFile[], servers: readonly string[]): void {
  const header = servers.length > 0 ? `/**\n * @servers ${servers.join(', ')}\n */\n` : ''
  const urls = files.map((file) => pathToFileURL(join(root, file.path)).href)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, header + urls.map((url) => `import '${url}'\n`).join(''))
}
