import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packArchives } from '../packaging/archive.ts'
import { buildInsidePackages, buildPackage } from '../packaging/build-package.ts'
import { makeBundle, type Size } from '../packaging/bundle.ts'
import { measureFolder } from '../packaging/installed/folder-size.ts'
import { createProject } from '../packaging/project.ts'
import { findPublishedPackages } from '../packaging/published-packages.ts'
import type { Library } from './libraries.ts'

/** A library in its own folder, with the programs beside it. */
export interface Installed {
  readonly library: Library
  readonly folder: string
  /** How many packages its users install, including itself. */
  readonly packageCount: number
  readonly bytes: number
  readonly bundle: Size
}

export interface Workspace extends Disposable {
  /** The folder for the output of servers. */
  readonly folder: string
  /** Installs a library alone, measures it, and adds what the programs need. */
  install(area: string, library: Library): Promise<Installed>
}

/** Builds and packs our packages. The installed files are removed at the end. */
export async function openWorkspace(names: readonly string[]): Promise<Workspace> {
  const archives = await packPackages(names)
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-comparison-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', remove)
  return {
    folder,
    async install(area, library) {
      const project = createProject(join(folder, area, library.id))
      // Peer dependencies are not installed: the framework, or `graphql`, is needed anyway and is
      // not a cost of the library.
      writeFileSync(join(project.folder, '.npmrc'), 'legacy-peer-deps=true\n')
      await project.install(library.packages.map((name) => archives.get(name) ?? name))
      const measured = {
        packageCount: project.listInstalled().length,
        bytes: measureFolder(join(project.folder, 'node_modules')),
        bundle: await makeBundle(project.folder, library.bundle, 'node'),
      }
      await project.install(library.extras)
      cpSync(join(import.meta.dirname, 'programs'), project.folder, { recursive: true })
      return { library, folder: project.folder, ...measured }
    },
    [Symbol.dispose]() {
      process.off('exit', remove)
      remove()
    },
  }
}

/** The path of each package's archive, by its name. */
async function packPackages(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const packages = findPublishedPackages()
  const wanted = new Set(names)
  // Each package comes after the packages that it depends on.
  for (const { manifest } of packages.toReversed()) {
    if (!wanted.has(manifest.name)) continue
    for (const name of Object.keys(manifest.dependencies ?? {})) wanted.add(name)
  }
  await buildInsidePackages()
  const built = packages.filter(({ manifest }) => wanted.has(manifest.name))
  for (const published of built) await buildPackage(published)
  const archives = await packArchives(built.filter(({ manifest }) => names.includes(manifest.name)))
  return new Map(archives.map(({ name, file }) => [name, file]))
}
