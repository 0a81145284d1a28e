// Makes sure a project's dependencies are installed and current:
//
//   node scripts/install.mjs [DIR]           default: the repository itself
//
// Plain JavaScript, because it runs before anything is installed, on any Node from 20 on. It prints
// nothing if there is nothing to do, and writes only to stderr, so that the output of the actual
// command stays clean.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withFileLock } from './file-lock.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** A failure that is reported to the user in one sentence. */
export class InstallError extends Error {
  name = 'InstallError'
}

/**
 * The package with the Node that a project pins for this system. Projects depend on these packages
 * directly instead of on `node`, whose install script downloads them without a hash: this way the
 * lock file contains the hash of each.
 */
const nodePackage = [
  process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node',
  process.platform === 'win32' ? 'win' : process.platform,
  process.arch,
].join('-')

/** The path of the Node that the project pins; the current Node if there is none for the system. */
export function pinnedNode(folder) {
  const pinned = toPinnedPath(folder)
  return existsSync(pinned) ? pinned : process.execPath
}

function toPinnedPath(folder) {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  return join(folder, 'node_modules', nodePackage, 'bin', name)
}

/**
 * Returns why the dependencies must be installed, or undefined if they are current.
 *
 * npm deletes node_modules/.package-lock.json when it starts to install and writes it as its last
 * step. So that file distinguishes an interrupted install from a complete one, and it is also correct
 * after a manual install.
 */
export function findReasonToInstall(folder) {
  const wanted = readPackages(join(folder, 'package-lock.json'))
  if (!wanted) throw new InstallError(`${folder} has no readable package-lock.json.`)
  const installed = readPackages(join(folder, 'node_modules', '.package-lock.json'))
  if (!installed) return 'they are not installed yet'

  for (const [path, entry] of Object.entries(wanted)) {
    if (!isBelowNodeModules(path)) continue
    const found = installed[path]
    // An optional package is absent on every system for which it was not built.
    if (!found && (entry.optional || entry.devOptional)) continue
    if (!found) return `${path} is new`
    if (found.version !== entry.version || found.integrity !== entry.integrity) {
      return `${path} changed`
    }
    if (!existsSync(join(folder, path, 'package.json'))) return `${path} is missing`
  }
  // Packages that are not in the lock file do no harm; a manual install may have added some.
  for (const entry of Object.values(installed)) {
    if (excludes(entry.os, process.platform) || excludes(entry.cpu, process.arch)) {
      return 'they were installed on another system'
    }
  }
  if (isPinnedMissing(folder, wanted, installed)) return 'the pinned Node is missing'
  return undefined
}

/**
 * If the registry has no Node for this system, another one of the same version or later is fine.
 */
function isPinnedMissing(folder, wanted, installed) {
  const versions = Object.entries(wanted)
    .filter(([path]) => /^node_modules\/node-(?:bin-)?(?:linux|darwin|win)-/.test(path))
    .map(([, { version }]) => version)
  if (versions.length === 0 || existsSync(toPinnedPath(folder))) return false
  const isInstalled = installed[`node_modules/${nodePackage}`] !== undefined
  return (
    isInstalled || Number.parseInt(process.versions.node, 10) < Number.parseInt(versions[0], 10)
  )
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return undefined
  }
}

const isBelowNodeModules = (path) =>
  path.startsWith('node_modules/') || path.includes('/node_modules/')

const excludes = (list, name) => list !== undefined && ![list].flat().includes(name)

/** Installs if there is a reason to. Only one process installs; the others wait for it. */
export async function ensureInstalled(folder, { log = (line) => console.error(line) } = {}) {
  const lockFile = join(folder, '.cache', 'install.lock')
  if (!existsSync(lockFile) && !findReasonToInstall(folder)) return
  const onWait = () => log('Another process is installing the dependencies, waiting for it…')
  await withFileLock(lockFile, { onWait }, async () => {
    const reason = findReasonToInstall(folder)
    if (!reason) return
    const whose = folder === root ? '' : ` of ${relative(root, folder)}`
    log(`Installing dependencies${whose} (npm ci), because ${reason}…`)
    const start = performance.now()
    await runNpmCi(folder)
    const gap = findReasonToInstall(folder)
    if (gap) {
      // npm leaves out an optional package whose download failed, and the pinned Node is one.
      log(`Installing dependencies${whose} again, because ${gap}…`)
      await runNpmCi(folder)
    }
    const problem = gap && findReasonToInstall(folder)
    if (problem) {
      throw new InstallError(
        `npm ci succeeded, but ${problem}. If npm is set to leave out optional packages ` +
          '(npm config get omit), or the registry has none for this system, install Node 24 or later ' +
          'from https://nodejs.org and try again.',
      )
    }
    log(`Installed in ${((performance.now() - start) / 1000).toFixed(1)} s.`)
  })
}

async function runNpmCi(folder) {
  // Development dependencies are needed whatever NODE_ENV or the user's configuration says.
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
  const command = npmCommand(folder)
  const child = spawn(command.file, [...command.args, ...args, '--loglevel=error'], {
    cwd: folder,
    env: { ...process.env, PATH: command.path },
    shell: command.shell,
    stdio: ['ignore', process.stderr, process.stderr],
  })
  const stop = () => child.kill()
  process.once('exit', stop)
  const outcome = await new Promise((done) => {
    child.on('error', (error) => done(error.message))
    child.on('exit', (code, signal) =>
      done(code === 0 ? undefined : (signal ?? `exit code ${code}`)),
    )
  })
  process.off('exit', stop)
  if (outcome) {
    throw new InstallError(
      `npm ci failed in ${folder} (${outcome}); its output is above. Check the network, the ` +
        'registry and the free disk space, then run the same command again. If a package.json was ' +
        'edited by hand, run `npm install` once to bring package-lock.json up to date.',
    )
  }
}

/**
 * The npm that started this script, run by a Node outside the folder: `npm ci` deletes the pinned
 * Node, which npm scripts find first.
 */
function npmCommand(folder) {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => !isInside(entry, join(folder, 'node_modules')))
    .join(delimiter)
  const cli = process.env.npm_execpath
  if (cli && /[\\/]npm[^\\/]*\.[cm]?js$/.test(cli)) {
    const isOurs = isInside(process.execPath, join(folder, 'node_modules'))
    return { file: isOurs ? 'node' : process.execPath, args: [cli], path, shell: false }
  }
  return { file: 'npm', args: [], path, shell: process.platform === 'win32' }
}

function isInside(path, folder) {
  try {
    return `${realpathSync(path)}${sep}`.startsWith(`${realpathSync(folder)}${sep}`)
  } catch {
    return resolve(path).startsWith(resolve(folder) + sep)
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await ensureInstalled(resolve(process.argv[2] ?? root))
  } catch (error) {
    if (!(error instanceof InstallError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
