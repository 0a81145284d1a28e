import { dirname, join } from 'node:path/posix'
import { findCycles, findShortestCycle, type ImportGraph } from './cycles.ts'
import { type FolderRules, findFolder, topLevel } from './folders.ts'
import {
  type ModuleReferences,
  type Place,
  type Reference,
  readReferences,
} from './read-references.ts'
import {
  computedName,
  environmentName,
  findRowName,
  isNameInside,
  matchesOutside,
  mayImportEachOther,
  type PackageTable,
  type Row,
  toNames,
} from './table.ts'

export interface Boundaries {
  /** The tables by the folder name of the package. */
  readonly packages: Readonly<Record<string, PackageTable>>
  /** The folders of packages; default: `topLevel`. */
  readonly folders?: Readonly<Record<string, FolderRules>>
}

export interface Violation extends Place {
  readonly file: string
  readonly text: string
  /** What the row of the module allows, and why. */
  readonly allowed?: string
  readonly fix: string
}

/** @param sources the text of each module by its path, such as `packages/auth/src/main.ts`. */
export function findViolations(
  sources: ReadonlyMap<string, string>,
  boundaries: Boundaries,
): Violation[] {
  const modules = [...sources].map(([file, source]) => toModule(file, readReferences(file, source)))
  return [
    ...modules.flatMap((module) => findInModule(module, boundaries)),
    ...findModuleCycles(modules),
    ...findFolderCycles(modules, boundaries),
  ].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column)
}

interface Module extends ModuleReferences {
  readonly file: string
  /** The folder of the package below `packages/`. */
  readonly packageName: string
  /** The path below `src/`. */
  readonly path: string
}

function toModule(file: string, references: ModuleReferences): Module {
  const [, packageName = '', , ...path] = file.split('/')
  return { file, packageName, path: path.join('/'), ...references }
}

function findInModule(module: Module, boundaries: Boundaries): Violation[] {
  const { file, packageName, path, references, environment } = module
  const list = toListPath(packageName)
  const table = boundaries.packages[packageName]
  const rowName = table && findRowName(table, path)
  const row = rowName === undefined ? undefined : table?.[rowName]
  if (!table || !row || rowName === undefined) {
    const text = `${file} belongs to no row of ${list}.`
    const fix = `Add a row for ${toFolderName(path)} that lists what it may import.`
    return [{ file, line: 1, column: 1, text, fix }]
  }
  const found = references.flatMap((reference) => {
    const text = findFault(reference, module, table, rowName)
    return text === undefined ? [] : [{ file, ...text, ...toPlace(reference) }]
  })
  const mayRead = toNames(row.outside).includes(environmentName)
  const accesses = environment.flatMap(({ isWrite, ...place }): Violation[] => {
    if (isWrite) {
      const fix = 'Pass the value as an argument, or in `env` of the process that needs it.'
      return [{ file, ...place, text: `${path} writes process.env.`, fix }]
    }
    if (mayRead) return []
    const readers = findRowsWith(table, (each) => toNames(each.outside).includes(environmentName))
    const fix = `Read it in ${readers || 'main.ts'} and pass the value on.`
    return [{ file, ...place, text: `${path} reads process.env.`, fix }]
  })
  return [...found, ...accesses]
}

type Fault = Omit<Violation, 'file' | keyof Place>

function findFault(
  { specifier, isTypeOnly }: Reference,
  { file, packageName, path }: Module,
  table: PackageTable,
  rowName: string,
): Fault | undefined {
  const row = table[rowName] ?? {}
  const source = `packages/${packageName}/src`
  const isLocal = /^\.\.?\//.test(specifier ?? '')
  const target = isLocal ? join(dirname(file), specifier ?? '') : undefined
  const allowed = describeRow(rowName, row)
  const list = toListPath(packageName)

  if (target !== undefined && target.startsWith(`${source}/`)) {
    const targetPath = target.slice(source.length + 1)
    const targetRow = findRowName(table, targetPath)
    // A target without a row is reported in its own file.
    if (targetRow === undefined) return undefined
    if (targetRow === rowName && mayImportEachOther(rowName, path, targetPath)) return undefined
    if (allowsInside(row.inside, targetRow, table)) return undefined
    const allowsTypes = allowsInside(row.types, targetRow, table)
    if (allowsTypes && isTypeOnly) return undefined
    const text = `${path} imports ${targetPath}, ${toRowText(targetRow)}.`
    if (allowsTypes) return { text, allowed, fix: 'Import only types, with `import type`.' }
    const fix =
      `Pass what it needs as an argument, or move the shared part to a row that both may import. ` +
      `If the import is right, add ${targetRow} to ${rowName} in ${list}.`
    return { text, allowed, fix }
  }

  if (target !== undefined && !target.startsWith(`packages/${packageName}/`)) {
    const text = `${path} imports ${target} of another package by its path.`
    return { text, fix: 'Import it by the name of its package, from what that package exports.' }
  }

  const name =
    target === undefined
      ? (specifier ?? computedName)
      : `../${target.split('/').slice(2).join('/')}`
  if (matchesOutside(toNames(row.outside), name)) return undefined
  const allowsTypes = matchesOutside(toNames(row.types), name)
  if (allowsTypes && isTypeOnly) return undefined
  const text = `${path} imports ${name}.`
  if (allowsTypes) return { text, allowed, fix: 'Import only types, with `import type`.' }
  const users = findRowsWith(table, (each) => matchesOutside(toNames(each.outside), name))
  const fix = users
    ? `Use it through ${users}. If the import is right, add it to ${rowName} in ${list}.`
    : `No module of ${packageName} may import it. If the import is right, add it to ${rowName} in ${list}.`
  return { text, allowed, fix }
}

function allowsInside(column: string | undefined, rowName: string, table: PackageTable): boolean {
  return toNames(column).some((name) => {
    if (name === rowName || name === '**') return true
    const isBelow = name.endsWith('**') && rowName.startsWith(name.slice(0, -2))
    return isBelow && table[rowName]?.isOnlyNamed !== true
  })
}

function describeRow(name: string, { inside, outside, types, because }: Row): string {
  const lists = [
    toNames(inside).join(', '),
    toNames(outside).join(', '),
    types && `types of ${toNames(types).join(', ')}`,
  ].filter(Boolean)
  const allowed = lists.join('; ') || 'nothing outside the row'
  return `${name} may import: ${allowed}.${because ? ` ${because}` : ''}`
}

function toRowText(rowName: string): string {
  return rowName.endsWith('/') || rowName.endsWith('**') ? `of ${rowName}` : 'which has its own row'
}

function findRowsWith(table: PackageTable, matches: (row: Row) => boolean): string {
  return Object.entries(table)
    .filter(([, row]) => matches(row))
    .map(([name]) => name)
    .join(', ')
}

function toListPath(packageName: string): string {
  return `scripts/boundaries/allowed-imports/${packageName}.ts`
}

function toFolderName(path: string): string {
  return path.includes('/') ? `${dirname(path)}/` : path
}

function toPlace({ line, column }: Place): Place {
  return { line, column }
}

/** The modules of this repository that a module imports, with the place of the import. */
function listImports({ file, references }: Module): (Place & { readonly target: string })[] {
  return references.flatMap(({ specifier, isProgram, ...place }) =>
    specifier?.startsWith('.') && !isProgram
      ? [{ target: join(dirname(file), specifier), ...toPlace(place) }]
      : [],
  )
}

function findModuleCycles(modules: readonly Module[]): Violation[] {
  const graph = new Map(
    modules.map((module) => [module.file, listImports(module).map(({ target }) => target)]),
  )
  return findCycles(graph).map((group): Violation => {
    const path = findShortestCycle(graph, group)
    const [file = '', next = ''] = path
    const module = modules.find((each) => each.file === file)
    const place = module && listImports(module).find(({ target }) => target === next)
    const text =
      `An import cycle of ${group.length} modules, which counts even if only types are imported: ` +
      `${path.join(' → ')}.`
    const fix =
      'Move shared code to a module that imports none of them; a list imports its entries, ' +
      'and an entry never the list.'
    return { file, ...toPlace(place ?? { line: 1, column: 1 }), text, fix }
  })
}

function findFolderCycles(modules: readonly Module[], boundaries: Boundaries): Violation[] {
  const toFolder = (file: string) => {
    const { packageName, path } = toModule(file, { references: [], environment: [] })
    const folder = findFolder(path, boundaries.folders?.[packageName] ?? topLevel)
    return folder && `packages/${packageName}/src/${folder}`
  }
  const imports = modules.flatMap((module) =>
    listImports(module).flatMap(({ target, ...place }) => {
      const [from, to] = [toFolder(module.file), toFolder(target)]
      if (from === undefined || to === undefined || from === to) return []
      return [{ from, to, file: module.file, target, ...place }]
    }),
  )
  const graph: ImportGraph = new Map(
    [...Map.groupBy(imports, ({ from }) => from)].map(([from, own]) => [
      from,
      own.map(({ to }) => to),
    ]),
  )
  return findCycles(graph).flatMap((group) => {
    const path = findShortestCycle(graph, group)
    const steps = path.slice(1).flatMap((to, index) => {
      const step = imports.find((each) => each.from === path[index] && each.to === to)
      return step === undefined ? [] : [step]
    })
    const [first] = steps
    if (first === undefined) return []
    const listed = steps.map(({ file, target }) => `${file} imports ${target}`).join(', ')
    return {
      file: first.file,
      ...toPlace(first),
      text: `An import cycle of ${group.length} folders, which counts even if only types are imported: ${listed}.`,
      fix:
        'Move what both folders need to the lower one, or to a folder below both. A module that assembles ' +
        'folders can be listed in scripts/boundaries/allowed-imports/index.ts.',
    }
  })
}

/** Names in the lists that are not rows, and rows without modules. */
export function findStaleNames(
  files: Iterable<string>,
  { packages, folders = {} }: Boundaries,
): string[] {
  const used = new Set<string>()
  const existing = new Set(files)
  for (const file of existing) {
    const { packageName, path } = toModule(file, { references: [], environment: [] })
    const table = packages[packageName]
    if (table) used.add(`${packageName}: ${findRowName(table, path)}`)
  }
  const missing = Object.entries(folders).flatMap(([packageName, { apart = [] }]) =>
    apart
      .filter((path) => !existing.has(`packages/${packageName}/src/${path}`))
      .map((path) => `${packageName}: ${path}`),
  )
  const stale = Object.entries(packages).flatMap(([packageName, table]) =>
    Object.entries(table).flatMap(([name, { inside, types }]) => [
      ...(used.has(`${packageName}: ${name}`) ? [] : [`${packageName}: ${name}`]),
      ...[...toNames(inside), ...toNames(types).filter(isNameInside)]
        .filter((each) => !Object.keys(table).some((row) => allowsInside(each, row, table)))
        .map((each) => `${packageName}: ${name} lists ${each}`),
    ]),
  )
  return [...missing, ...stale]
}
