import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { DevelopmentManifest } from './published-manifest.ts'

export const root = dirname(dirname(import.meta.dirname))

/** A workspace that goes to the registry: whoever has a tsconfig.build.json does. */
export interface PublishedPackage {
  readonly name: string
  /** The workspace. */
  readonly folder: string
  /** Where the build puts what is published. */
  readonly dist: string
  readonly manifest: DevelopmentManifest
}

export function findPublishedPackages(): PublishedPackage[] {
  return globSync('packages/*/tsconfig.build.json', { cwd: root })
    .sort()
    .map((file) => {
      const folder = join(root, dirname(file))
      const manifest: DevelopmentManifest = readJson(join(folder, 'package.json'))
      return { name: basename(folder), folder, dist: join(folder, 'dist'), manifest }
    })
}

// The caller says what it expects; the files are ours or npm's.
export function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8'))
}
