// Packs every published package and proves that the archive works:  npm run pack

import { rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { runtime } from '../packages/graphql-over-http/test/support/runtimes.ts'
import { type Archive, checkContents, packArchive } from './packaging/archive.ts'
import { buildPackage } from './packaging/build-package.ts'
import { proveGraphqlOverHttp, type Runtime } from './packaging/graphql-over-http/prove.ts'
import { runAttw, runPublint } from './packaging/lint-archive.ts'
import { createProofs, type Proofs } from './packaging/proofs.ts'
import {
  findPublishedPackages,
  type PublishedPackage,
  root,
} from './packaging/published-packages.ts'
import { CommandError, runCommand, runNpm } from './packaging/run-command.ts'

const help = `Usage: npm run pack

Builds every published package, packs it into artifacts/, and proves the archive: what is inside,
publint and attw, an install in an empty project with each graphql major, its use on Node 22 and 24
from modules and from CommonJS, its command, its types under TypeScript 5.9 and 7, and its size.
Exits with 1 when a proof fails.`

/** What is special to a package, by the name of its folder. */
const ownProofs: {
  readonly [folder: string]: (
    archive: Archive,
    proofs: Proofs,
    runtimes: readonly Runtime[],
  ) => Promise<void>
} = { 'graphql-over-http': proveGraphqlOverHttp }

// What the proofs open is removed on exit.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

try {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help) console.log(help)
  else await packAll()
} catch (error) {
  if (!(error instanceof TypeError && 'code' in error)) throw error
  console.error(`${error.message}\n\n${help}`)
  process.exitCode = 2
}

async function packAll(): Promise<void> {
  const start = performance.now()
  const proofs = createProofs((line) => console.log(line))
  const archives: Archive[] = []
  rmSync(join(root, 'artifacts'), { recursive: true, force: true })
  for (const published of findPublishedPackages()) {
    console.log(styleText('bold', `${published.manifest.name} ${published.manifest.version}`))
    const archive = await makeArchive(published, proofs)
    if (!archive) continue
    archives.push(archive)
    await proofs.prove('contains only modules, declarations, README and LICENSE', async () =>
      checkContents(archive),
    )
    await proofs.prove('publint finds nothing', () => runPublint(archive))
    await proofs.prove('attw finds nothing', () => runAttw(archive))
    await proofs.prove('packing the development folder is refused', () =>
      checkRefusal(published.folder),
    )
    await ownProofs[published.name]?.(archive, proofs, await findRuntimes())
  }
  summarize(archives, proofs, (performance.now() - start) / 1000)
}

async function makeArchive(
  published: PublishedPackage,
  { prove }: Proofs,
): Promise<Archive | undefined> {
  let archive: Archive | undefined
  const isBuilt = await prove('builds', () => buildPackage(published))
  if (!isBuilt) return undefined
  await prove('packs', async () => {
    archive = await packArchive(published)
    const { bytes, unpackedBytes, contents } = archive
    return `${contents.length} files, ${toKilobytes(bytes)}, unpacked ${toKilobytes(unpackedBytes)}`
  })
  return archive
}

/** The development manifest leads to sources: packed by mistake, it would be a broken package. */
async function checkRefusal(folder: string): Promise<void> {
  try {
    await runNpm(['pack', '--dry-run'], { cwd: folder })
  } catch (error) {
    if (error instanceof CommandError && error.message.includes('./dist')) return
    throw error
  }
  throw new Error('Its package.json needs a script "prepack" that fails and leads to ./dist')
}

async function findRuntimes(): Promise<Runtime[]> {
  const nodes = [runtime('node22'), process.execPath]
  return Promise.all(
    nodes.map(async (node) => {
      const version = await runCommand(node, ['--version'], { cwd: root })
      return { version: version.trim().slice(1), node }
    }),
  )
}

function summarize(archives: readonly Archive[], proofs: Proofs, seconds: number): void {
  console.log('')
  for (const { file, bytes } of archives) {
    console.log(`${relative(root, file)} (${toKilobytes(bytes)})`)
  }
  const { count, failed } = proofs
  const outcome = failed.length === 0 ? 'all hold' : `${failed.length} failed`
  console.log(`${count} proofs, ${outcome} (${seconds.toFixed(1)} s)`)
  for (const claim of failed) console.log(`${styleText('red', '✗')} ${claim}`)
  if (failed.length > 0) process.exitCode = 1
}

function toKilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`
}
