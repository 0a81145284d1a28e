import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DevelopmentManifest } from './published-manifest.ts'

export const root = dirname(dirname(import.meta.dirname))

/** A workspace that is compiled: whoever has a tsconfig.build.json is. */
export interface BuiltPackage {
  /** Its folder's name. */
  readonly name: string
  /** The workspace. */
  readonly folder: string
  /** Where the build puts what is made of it. */
  readonly dist: string
  readonly manifest: DevelopmentManifest
}

/** A workspace that goes to the registry. */
export interface PublishedPackage extends BuiltPackage {
  /** What of ours it uses that the registry does not have, and that it therefore brings. */
  readonly inside: readonly BuiltPackage[]
}

// Not published: they travel inside those who use them. See docs/decisions/015-what-is-published.md.
const insideNames = ['service-kit']

/** Every published package after those of ours that it needs. */
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

// The caller says what it expects; the files are ours or npm's.
export function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8'))
}
