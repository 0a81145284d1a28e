import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Archive } from '../archive.ts'
import { createProject, type Project } from '../project.ts'
import type { Proofs } from '../proofs.ts'
import { readJson, root } from '../published-packages.ts'
import { npmCommand } from '../run-command.ts'
import type { Runtime } from '../runtimes.ts'
import { proveJest } from './jest.ts'
import { checkImports } from './outside-imports.ts'
import { makeSizeTable } from './size-table.ts'
import {
  browserSettings,
  commonJsSettings,
  consumerSettings,
  copyExamples,
  type Settings,
  typeCheck,
} from './type-check.ts'

/** Installs the archive in empty projects and uses it there in every documented way. */
export async function proveGraphqlOverHttp(
  archive: Archive,
  proofs: Proofs,
  runtimes: readonly Runtime[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-pack-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  const plain = graphqlVersions().map((version) => ({
    version,
    project: createProject(join(folder, `graphql-${version}`)),
  }))
  const consumer = createProject(join(folder, 'consumer'), join(import.meta.dirname, 'consumer'))
  // The largest install waits for the network and the disk while the others compute.
  const consumerInstall = consumer.install([archive.file])
  consumerInstall.catch(() => undefined)
  try {
    for (const { version, project } of plain) {
      await proveUse(archive, proofs, project, version, runtimes)
    }
    const newest = plain.at(-1)?.project
    if (newest) await proveCommand(proofs, newest, runtimes)
    if (newest) await proveBundles(proofs, newest)
    await proofs.prove('installs in a TypeScript project', async () => {
      await consumerInstall
      return `${consumer.listInstalled().length} packages with the frameworks' types`
    })
    await Promise.all([
      newest && proveTypes(proofs, consumer, newest),
      proveJest(archive, proofs, consumer),
    ])
  } finally {
    await consumerInstall.catch(() => undefined)
    process.off('exit', removeFolder)
    removeFolder()
  }
}

/** The lowest version that the peer range allows, and those the repository tests with. */
function graphqlVersions(): string[] {
  return [
    '16.0.0',
    ...['graphql-16', 'graphql'].map((name) => {
      const file = join(root, 'node_modules', name, 'package.json')
      return readJson<{ version: string }>(file).version
    }),
  ]
}

async function proveUse(
  archive: Archive,
  { prove }: Proofs,
  project: Project,
  version: string,
  runtimes: readonly Runtime[],
): Promise<void> {
  const isInstalled = await prove(`installs with graphql ${version}`, async () => {
    await project.install([archive.file, `graphql@${version}`])
    const installed = project.listInstalled().sort().join(', ')
    if (installed !== `${archive.name}, graphql`) throw new Error(`It installed ${installed}`)
    return 'nothing else was installed'
  })
  if (!isInstalled) return
  cpSync(join(import.meta.dirname, 'plain'), project.folder, { recursive: true })
  const specifiers = archive.subpaths.map(({ specifier }) => specifier)
  for (const runtime of runtimes) {
    const on = `on Node ${runtime.version} with graphql ${version}`
    await prove(`import works ${on}`, () => project.run(runtime.node, 'esm.mjs', specifiers))
    await prove(`require works ${on}`, () => project.run(runtime.node, 'require.cjs', specifiers))
  }
}

async function proveCommand(
  { prove }: Proofs,
  project: Project,
  runtimes: readonly Runtime[],
): Promise<void> {
  for (const { version, node } of runtimes) {
    await prove(`the command works on Node ${version} through npx`, () =>
      project.run(node, 'command.mjs', npmCommand('npx')),
    )
  }
}

async function proveBundles({ prove, note }: Proofs, project: Project): Promise<void> {
  await prove('bundles for browsers and workers', () => checkImports(project.folder))
  await prove('has not grown beyond its limits', async () => {
    const { lines, overLimit } = await makeSizeTable(project.folder)
    note(lines)
    if (overLimit.length > 0) throw new Error(overLimit.join('\n'))
  })
}

async function proveTypes(proofs: Proofs, consumer: Project, browser: Project): Promise<void> {
  const compilers = {
    'TypeScript 5.9': join(consumer.folder, 'node_modules', 'typescript', 'bin', 'tsc'),
    'TypeScript 7': join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
  } as const
  cpSync(join(consumer.folder, 'clients.ts'), join(browser.folder, 'clients.ts'))
  cpSync(join(browser.folder, 'require.cjs'), join(consumer.folder, 'require.cjs'))
  for (const file of ['servers.ts', 'clients.ts', 'handlers.ts']) {
    cpSync(join(consumer.folder, file), join(consumer.folder, 'commonjs', file))
  }
  const readme = join(root, 'packages', 'graphql-over-http', 'README.md')
  const examples = copyExamples(readme, consumer)

  const proveWith = async (title: keyof typeof compilers): Promise<void> => {
    const check = (project: Project, settings: Settings) => () =>
      typeCheck(project, compilers[title], settings)
    for (const settings of consumerSettings[title]) {
      const files = [...settings.files, ...examples]
      await proofs.prove(
        `${title} compiles servers and clients (${settings.title})`,
        check(consumer, { ...settings, files }),
      )
    }
    for (const settings of commonJsSettings[title]) {
      await proofs.prove(
        `${title} compiles them to CommonJS (${settings.title})`,
        check(consumer, settings),
      )
    }
    await proofs.prove(
      `${title} compiles a browser's client without types of Node`,
      check(browser, browserSettings),
    )
  }
  await Promise.all([proveWith('TypeScript 5.9'), proveWith('TypeScript 7')])
}
