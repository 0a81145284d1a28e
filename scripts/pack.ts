// Packs every published package and tests the archives:  npm run pack

import { rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { toArgumentError, toArgumentFault } from '@portcullis/service-kit/cli/argument-faults'
import { checkApiReport } from './packaging/api-report/api-report.ts'
import { type Archive, checkContents, packArchives } from './packaging/archive.ts'
import { buildInsidePackages, buildPackage } from './packaging/build-package.ts'
import { checkImports } from './packaging/check-imports.ts'
import { checkLowestNode } from './packaging/check-lowest-node.ts'
import { proveGraphqlOverHttp } from './packaging/graphql-over-http/prove.ts'
import { openInstalled } from './packaging/installed/prove.ts'
import { proveLimiter } from './packaging/limiter/prove.ts'
import { runAttw, runPublint } from './packaging/lint-archive.ts'
import { createProofs, type Proofs } from './packaging/proofs.ts'
import type { DevelopmentManifest } from './packaging/published-manifest.ts'
import {
  findPublishedPackages,
  type PublishedPackage,
  root,
} from './packaging/published-packages.ts'
import { CommandError, runCommand } from './packaging/run-command.ts'
import { findRuntimes, type Runtime } from './packaging/runtimes.ts'

const help = `Usage: npm run pack -- [OPTION…]

Builds every published package, packs it into artifacts/, and tests the
archives: their contents and imports, the exports against api.md, publint and
attw. All packages are installed into one empty folder, where no module of the
repository can be loaded: \`portcullis up\` and the servers' own commands must
start and respond there; install size and start times are printed.

The GraphQL library is also used with each major version of graphql, on Node 22
and 24, from ES modules, CommonJS and Jest, with its command, its types under
TypeScript 5.9 and 7, and its size. CommonJS programs that require the other
libraries are compiled with both versions of TypeScript. The limiter is also
installed alone.

Options:
  --help  show this text

Exit codes: 0 on success, 1 if a proof fails, 2 for invalid arguments.`

/** Additional proofs per package, by the name of its folder. */
const ownProofs: {
  readonly [folder: string]: (
    archive: Archive,
    proofs: Proofs,
    runtimes: readonly Runtime[],
  ) => Promise<void>
} = { 'graphql-over-http': proveGraphqlOverHttp, limiter: proveLimiter }

// The temporary files of the proofs are removed on exit.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

try {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) console.log(help)
  else await packAll()
} catch (error) {
  if (!(error instanceof TypeError && 'code' in error)) throw error
  process.stderr.write(toArgumentError('npm run pack --', toArgumentFault(error)))
  process.exitCode = 2
}

async function packAll(): Promise<void> {
  const start = performance.now()
  const proofs = createProofs((line) => console.log(line))
  rmSync(join(root, 'artifacts'), { recursive: true, force: true })
  const packed = await makeArchives(proofs)
  if (packed.length === findPublishedPackages().length) await proveArchives(packed, proofs)
  const archives = packed.map(({ archive }) => archive)
  summarize(archives, proofs, (performance.now() - start) / 1000)
}

interface Packed {
  readonly published: PublishedPackage
  readonly archive: Archive
}

async function makeArchives({ prove, note }: Proofs): Promise<Packed[]> {
  headline('Archives')
  const isReady = await prove(
    'the packages that are bundled into others can be built',
    buildInsidePackages,
  )
  if (!isReady) return []
  const built: PublishedPackage[] = []
  for (const published of findPublishedPackages()) {
    const { name, version } = published.manifest
    await prove(`${name} ${version} can be built`, async () => {
      await buildPackage(published)
      built.push(published)
    })
  }
  let packed: Packed[] = []
  await prove('they can be packed', async () => {
    const archives = await packArchives(built)
    note(archives.map(describeSize))
    packed = built.flatMap((published, index) => {
      const archive = archives[index]
      return archive ? [{ published, archive }] : []
    })
  })
  return packed
}

function describeSize({ name, contents, bytes, unpackedBytes }: Archive): string {
  return `${name}: ${contents.length} files, ${toKilobytes(bytes)}, unpacked ${toKilobytes(unpackedBytes)}`
}

async function proveArchives(packed: readonly Packed[], proofs: Proofs): Promise<void> {
  const runtimes = await findRuntimes()
  const archives = packed.map(({ archive }) => archive)
  using installed = openInstalled(archives, proofs)
  for (const { published, archive } of packed) {
    headline(archive.name)
    await proveArchive(published, archive, proofs)
    await ownProofs[published.name]?.(archive, proofs, runtimes)
  }
  headline('All packages, installed together')
  await installed.prove(runtimes)
}

async function proveArchive(
  { folder, dist, manifest }: PublishedPackage,
  archive: Archive,
  { prove }: Proofs,
): Promise<void> {
  await prove('contains all expected files and no others', async () => checkContents(dist, archive))
  await prove('imports only itself, Node and its dependencies', () => checkImports(dist, archive))
  if (archive.subpaths.length > 0) {
    await prove('its exports match api.md and have comments', async () => {
      const { name, subpaths } = archive
      return `${checkApiReport({ name, folder, dist, subpaths }, false)} exports`
    })
  }
  await prove('uses nothing that Node 22 lacks', async () => checkLowestNode(dist, archive))
  await prove('publint finds nothing', () => runPublint(archive))
  if (archive.subpaths.length > 0) await prove('attw finds nothing', () => runAttw(archive))
  await prove('packing the development folder is refused', () => checkRefusal(folder, manifest))
}

/**
 * The development manifest refers to sources: packed by mistake, it would be a broken package. npm runs this script
 * before it packs; running it without npm takes a tenth of the time.
 */
async function checkRefusal(folder: string, { scripts }: DevelopmentManifest): Promise<void> {
  const script = scripts?.['prepack'] ?? ''
  try {
    await runCommand('sh', ['-c', script], { cwd: folder })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    // The message also contains the command, which must not count as its output.
    if (error.message.replace(script, '').includes('./dist')) return
    throw error
  }
  throw new Error('Its package.json needs a script "prepack" that fails and refers to ./dist')
}

function headline(text: string): void {
  console.log(styleText('bold', text))
}

function summarize(archives: readonly Archive[], proofs: Proofs, seconds: number): void {
  console.log('')
  for (const { file, bytes } of archives) {
    console.log(`${relative(root, file)} (${toKilobytes(bytes)})`)
  }
  const { count, failed } = proofs
  const outcome = failed.length === 0 ? 'all succeeded' : `${failed.length} failed`
  console.log(`${count} proofs, ${outcome} (${seconds.toFixed(1)} s)`)
  for (const claim of failed) console.log(`${styleText('red', '✗')} ${claim}`)
  if (failed.length === 0) console.log(toInstallHelp(archives))
  if (failed.length > 0) process.exitCode = 1
}

/** The packages depend on each other in this version, so one command has to install all of them. */
function toInstallHelp(archives: readonly Archive[]): string {
  const files = archives.map(({ file }) => `  ${file}`).join(' \\\n')
  return `
To install all of them in another project, use one command, because they depend on each other:

npm install \\
${files}

Then \`npx portcullis up\` starts everything. The README of each package explains how to use it alone.`
}

function toKilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
