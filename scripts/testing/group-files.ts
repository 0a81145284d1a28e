import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, type TestFile } from './test-files.ts'

/** Enough to amortize loading a server, and few enough to keep all cores busy until the end. */
const filesPerProcess = 24

/**
 * Groups files of one package that need the same servers, so that they share a process: loading a server takes
 * longer than most tests, and grouping halves the time of a run. A group is a generated test file below
 * `folder` that imports its members. `node --test` runs files in the order of their paths, so the generated
 * names are numbered, and slow files come first, so that none is left running alone at the end.
 * @returns paths for `node --test`.
 */
export function groupFiles(files: readonly TestFile[], folder: string): string[] {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const {
    slow = [],
    isolated = [],
    shared = [],
  } = Object.groupBy(files, (file) => {
    if (file.isSlow) return 'slow'
    return file.isolatedBecause === undefined ? 'shared' : 'isolated'
  })
  const byNeeds = Map.groupBy(shared, ({ path, servers }) => `${toArea(path)} ${servers.join()}`)
  const groups = [
    ...slow.map((file) => [file]),
    ...isolated.map((file) => [file]),
    ...[...byNeeds.values()].flatMap(split),
  ]
  return groups.map((group, index) => {
    const path = join(folder, `${`${index}`.padStart(3, '0')}-${toName(group)}.test.ts`)
    writeFileSync(path, toSource(group))
    return path
  })
}

/**
 * `packages/auth/test` for a file in any folder below it, since many folders have only a few files, and
 * almost all files of a package load the same modules.
 */
function toArea(path: string): string {
  return dirname(path).split('/').slice(0, 3).join('/')
}

function split(files: readonly TestFile[]): TestFile[][] {
  const processCount = Math.ceil(files.length / filesPerProcess)
  // Neighbouring files are often similar, so taking every n-th file distributes the expensive ones.
  return Array.from({ length: processCount }, (_, index) =>
    files.filter((_file, at) => at % processCount === index),
  )
}

/** The name in the list of slow files at the end of a leg, such as auth or auth-faults-kill. */
function toName(group: readonly TestFile[]): string {
  const [first] = group
  if (!first) return 'empty'
  const folder = (group.length === 1 ? dirname(first.path) : toArea(first.path))
    .replace(/^packages\//, '')
    .replace('/test', '')
  const name = group.length === 1 ? `-${basename(first.path, '.test.ts')}` : ''
  return folder.replaceAll('/', '-') + name
}

function toSource(group: readonly TestFile[]): string {
  const servers = group[0]?.servers ?? []
  const header = servers.length > 0 ? `/**\n * @servers ${servers.join(', ')}\n */\n` : ''
  const urls = group.map((file) => pathToFileURL(join(root, file.path)).href)
  return header + urls.map((url) => `import '${url}'\n`).join('')
}
