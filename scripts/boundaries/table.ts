import { basename, dirname, join } from 'node:path/posix'

/**
 * The modules of one package and what they may import. Each module belongs to one row, the most specific
 * one that matches its path below `src/`:
 *
 *     'handler.ts'   this module
 *     './'           the modules directly in src/
 *     'http/'        the modules directly in src/http/
 *     'rules/**'     the modules in src/rules/ and the folders below it
 *     'pages/{each}/**'   the modules of one folder in src/pages/, separate from its sibling folders
 *     'features/{each}/endpoints.ts', 'features/{each}/endpoints/'   a module or folder of that name in each folder
 *
 * A module may import the modules of its own row, and what the row lists. A module without a row is an error.
 */
export type PackageTable = Readonly<Record<string, Row>>

/** Names are separated by spaces. */
export interface Row {
  /** Rows of the same package; `rules/**` stands for every row below `rules/`, `**` for all rows. */
  readonly inside?: string
  /**
   * Packages of this repository and others, with their subpaths; `@scope/*` and `node:*` match all
   * that start with it. Three more names grant other permissions: `process.env` to read the
   * environment, `import(…)` to import a path that is computed at run time, `../folder/` to use a
   * folder of the package outside src/.
   */
  readonly outside?: string
  /** Rows and packages of which only types may be imported. */
  readonly types?: string
  /** Whether `**` in other rows does not include this row, so that they must name it. */
  readonly isOnlyNamed?: boolean
  /** The reason in one sentence, if the lists do not show it. */
  readonly because?: string
}

/** The permission to read the environment, in the column `outside`. */
export const environmentName = 'process.env'

/** The permission to import a computed path, in the column `outside`. */
export const computedName = 'import(…)'

export function findRowName(table: PackageTable, path: string): string | undefined {
  const folder = dirname(path)
  const each = join(dirname(folder), '{each}')
  const names = [path, join(each, basename(path))]
  names.push(
    folder === '.' ? './' : `${folder}/`,
    `${join(dirname(dirname(folder)), '{each}', basename(folder))}/`,
  )
  for (let above = folder; above !== '.'; above = dirname(above)) {
    names.push(`${above}/**`, join(dirname(above), '{each}/**'))
  }
  return [...names, '**'].find((name) => Object.hasOwn(table, name))
}

/**
 * Whether two modules of a row may import each other: not if they are in different folders of
 * `{each}`.
 */
export function mayImportEachOther(rowName: string, path: string, otherPath: string): boolean {
  const depth = rowName.split('/').indexOf('{each}')
  return depth === -1 || path.split('/')[depth] === otherPath.split('/')[depth]
}

export function isNameInside(name: string): boolean {
  return /\/$|\*\*$|\.tsx?$/.test(name) && !name.startsWith('../')
}

export function toNames(column: string | undefined): string[] {
  return column?.split(/\s+/).filter(Boolean) ?? []
}

/** Whether a list contains this package, its scope, or a package above this subpath. */
export function matchesOutside(names: readonly string[], specifier: string): boolean {
  return names.some((name) =>
    name.endsWith('*')
      ? specifier.startsWith(name.slice(0, -1))
      : specifier === name || specifier.startsWith(name.endsWith('/') ? name : `${name}/`),
  )
}
