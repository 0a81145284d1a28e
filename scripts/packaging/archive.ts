import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PublishedManifest } from './published-manifest.ts'
import { type PublishedPackage, readJson, root } from './published-packages.ts'
import { runNpm } from './run-command.ts'
import { listSubpaths, type Subpath } from './subpaths.ts'

/** A package as it is published to the registry. */
export interface Archive {
  readonly name: string
  /** The path of the .tgz file. */
  readonly file: string
  readonly bytes: number
  readonly unpackedBytes: number
  /** The paths of the files in the archive. */
  readonly contents: readonly string[]
  readonly manifest: PublishedManifest
  readonly subpaths: readonly Subpath[]
}

interface PackReport {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

const destination = join(root, 'artifacts')

/** Packs built packages into the folder artifacts/, with one call of npm, whose start takes longest. */
export async function packArchives(packages: readonly PublishedPackage[]): Promise<Archive[]> {
  mkdirSync(destination, { recursive: true })
  const flags = ['--json', '--pack-destination', destination]
  const output = await runNpm(['pack', ...flags, ...packages.map(({ dist }) => dist)], {
    cwd: root,
  })
  const reports = readReports(output)
  return packages.map((published) => toArchive(published, reports))
}

function toArchive(
  { dist, manifest: { name } }: PublishedPackage,
  reports: readonly PackReport[],
): Archive {
  const report = reports.find((each) => each.name === name)
  if (!report) throw new Error(`npm pack reported no archive of ${name}`)
  const contents = report.files.map(({ path }) => path)
  const manifest: PublishedManifest = readJson(join(dist, 'package.json'))
  for (const path of Object.values(manifest.bin ?? {})) {
    const isExecutable = report.files.some((file) => file.path === path && file.mode & 0o100)
    if (!isExecutable)
      throw new Error(`The command ${path} is not an executable file in the archive`)
  }
  return {
    name,
    file: join(destination, report.filename),
    bytes: report.size,
    unpackedBytes: report.unpackedSize,
    contents,
    manifest,
    subpaths: listSubpaths(manifest, contents),
  }
}

// npm up to version 11 returns a list, npm 12 and later a map by package name.
function readReports(output: string): readonly PackReport[] {
  const reports: { readonly [key: string]: PackReport } = JSON.parse(output)
  return Object.values(reports)
}

const modules = /^(?!.*\.test\.).+\.(?:js|d\.ts)$/
const otherFiles = /\.(?:sql|html|css|svg|yaml|json)$/
const always = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']

/**
 * Checks that the archive contains only modules, their declarations, the files that the manifest
 * names, and the files that every package needs.
 */
export function checkContents(dist: string, { contents, manifest }: Archive): void {
  const isExpected = (path: string) =>
    manifest.files.some((folder) => path.startsWith(`${folder}/`)) &&
    (modules.test(path) || otherFiles.test(path))
  const unexpected = contents.filter((path) => !always.includes(path) && !isExpected(path))
  const missing = always.filter((path) => !contents.includes(path))
  if (unexpected.length > 0) throw new Error(`Unexpected files: ${unexpected.join(', ')}`)
  if (missing.length > 0) throw new Error(`Missing: ${missing.join(', ')}`)
  for (const field of ['description', 'keywords', 'homepage', 'bugs', 'repository', 'license']) {
    if (!(field in manifest)) throw new Error(`Its package.json has no "${field}"`)
  }
  for (const field of ['private', 'scripts', 'devDependencies', 'workspaces']) {
    if (field in manifest) throw new Error(`Its package.json has the field "${field}"`)
  }
  const local = contents.filter((path) => readFileSync(join(dist, path), 'utf8').includes(root))
  if (local.length > 0) throw new Error(`Contains paths of this machine: ${local.join(', ')}`)
}
