import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DevelopmentManifest } from './published-manifest.ts'

export const root = dirname(dirname(import.meta.dirname))

/** A workspace that is compiled, which is one with a tsconfig.build.json. */
export interface BuiltPackage {
  /** The name of its folder. */
  readonly name: string
  /** The workspace. */
  readonly folder: string
  /** The output folder of the build. */
  readonly dist: string
  readonly manifest: DevelopmentManifest
}

/** A workspace that is published to the registry. */
export interface PublishedPackage extends BuiltPackage {
  /**
   * Unpublished packages of this repository that it uses and that are therefore bundled into it.
   */
  readonly inside: readonly BuiltPackage[]
}

// Not published, but bundled into the packages that use them. See
// docs/decisions/015-what-is-published.md.
const insideNames = ['service-kit']

/** The published packages in build order: each one after the packages that it depends on. */
export function findPublishedPackages(): PublishedPackage[] {
  const inside = findInsidePackages()
  const published = findBuiltPackages()
    .filter(({ name }) => !insideNames.includes(name))
    .map((built) => ({
      ...built,
      inside: inside.filter(({ manifest }) => manifest.name in (built.manifest.dependencies ?? {})),
    }))
  return toBuildOrder(published)
}

export function findInsidePackages(): BuiltPackage[] {
  return findBuiltPackages().filter(({ name }) => insideNames.includes(name))
}

function findBuiltPackages(): BuiltPackage[] {
  return globSync('packages/*/tsconfig.build.json', { cwd: root })
    .sort()
    .map((file) => {
      const folder = join(root, dirname(file))
      const manifest: DevelopmentManifest = readJson(join(folder, 'package.json'))
      return { name: basename(folder), folder, dist: join(folder, 'dist'), manifest }
    })
}

function toBuildOrder(packages: readonly PublishedPackage[]): PublishedPackage[] {
  const ordered = new Set<PublishedPackage>()
  const add = (published: PublishedPackage) => {
    const needed = packages.filter(
      ({ manifest }) => manifest.name in (published.manifest.dependencies ?? {}),
    )
    for (const each of needed) add(each)
    ordered.add(published)
  }
  for (const published of packages) add(published)
  return [...ordered]
}

// The caller declares the type; the files are ours or npm's.
export function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8'))
}
