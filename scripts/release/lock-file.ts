import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../packaging/published-packages.ts'

/** The fields of an entry of package-lock.json that are read here. */
interface LockEntry {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  /** For a link: the folder of the workspace. */
  readonly resolved?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockEntry>>
}

/** A package that another package needs in production. */
export interface Dependency {
  readonly name: string
  readonly version: string
  /** An SPDX expression. */
  readonly licence: string
  /** As in the lock file: `sha512-…`; undefined for packages of this repository. */
  readonly integrity: string | undefined
  /** Whether it is installed only on some systems. */
  readonly isOptional: boolean
  /** The ids of the packages that it needs itself. */
  readonly needs: readonly string[]
}

const toId = ({ name, version }: { name: string; version: string }) => `${name}@${version}`

export function readLockFile(): LockFile {
  return JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
}

/** All packages that a package needs in production, directly or indirectly. */
export interface Dependencies {
  /** The ids of the packages that it needs directly. */
  readonly direct: readonly string[]
  readonly all: ReadonlyMap<string, Dependency>
}

/**
 * Finds the packages that npm installs with a package. Development dependencies are not included, because npm does not
 * install them, and peer dependencies are not, because the user chooses them.
 * @param bundled packages that its archive contains. Their own dependencies are not installed.
 */
export function findDependencies(
  { packages }: LockFile,
  workspace: string,
  bundled: readonly string[] = [],
): Dependencies {
  const found = new Map<string, Dependency>()
  const optionalOnly = new Map<string, boolean>()

  const visit = (place: string, isOptional: boolean): string[] => {
    const entry = packages[place] ?? {}
    const needs = [
      ...Object.keys(entry.dependencies ?? {}).map((name) => ({ name, isOptional })),
      ...Object.keys(entry.optionalDependencies ?? {}).map((name) => ({ name, isOptional: true })),
    ]
    return needs.flatMap((need) => {
      const target = resolvePlace(packages, place, need.name)
      // The lock file has no entry for an optional package that the registry does not have.
      return target === undefined ? [] : [add(target, need.name, need.isOptional)]
    })
  }

  const add = (place: string, name: string, isOptional: boolean): string => {
    const { version = '', license = '', integrity } = packages[place] ?? {}
    const id = toId({ name, version })
    const before = optionalOnly.get(id)
    // A package that was optional so far is visited again if it is required, because its dependencies are then too.
    if (before === undefined || (before && !isOptional)) {
      optionalOnly.set(id, isOptional)
      const needs = bundled.includes(name) ? [] : visit(place, isOptional)
      found.set(id, { name, version, licence: license, integrity, isOptional, needs })
    }
    return id
  }

  return { direct: visit(`packages/${workspace}`, false), all: found }
}

/** Finds the entry of the package that Node would load if a file in `from` imported this name. */
function resolvePlace(
  packages: LockFile['packages'],
  from: string,
  name: string,
): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder === '.' ? '' : folder, 'node_modules', name)
    const entry = packages[place]
    if (entry !== undefined) return entry.link ? entry.resolved : place
    if (folder === '.') return undefined
  }
}
