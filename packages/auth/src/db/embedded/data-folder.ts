import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Log } from '@portcullis/service-kit/log/log'
import { makeFolder } from '@portcullis/service-kit/process/make-folder'
import { toReason } from '@portcullis/service-kit/text/reason'
import { type Account, runAs, toFailureText } from './account.ts'
import type { Binaries } from './binaries.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { findByMark, toOwnMark } from './occupant.ts'
import { firstSettings } from './settings.ts'

/** The only database user, a superuser. */
export const user = 'postgres'

/** Creates the folder if it is missing. @returns its real path. */
export async function provideFolder(folder: string): Promise<string> {
  try {
    makeFolder(folder)
    return await realpath(folder)
  } catch (error) {
    const reason = toReason(error)
    throw new EmbeddedPostgresError('unusable_folder', `Cannot use ${folder}: ${reason}`, error)
  }
}

interface DataFolderSettings {
  /** The real path of the folder. */
  readonly folder: string
  readonly binaries: Binaries
  readonly account: Account | undefined
  readonly log: Pick<Log, 'info'>
}

/**
 * Provides the data folder of PostgreSQL inside our folder: creates it if necessary, and makes sure
 * that PostgreSQL can start on it.
 */
export async function provideDataFolder(settings: DataFolderSettings): Promise<string> {
  const { folder, binaries, account } = settings
  const data = join(folder, 'data')
  await refuseOtherFiles(folder)
  if (!(await exists(data))) await createDatabase(settings, data)
  await checkVersion(data, binaries)
  await ensureOwner(data, settings)
  if (account) await checkEntry(data, account)
  return data
}

/**
 * The setting may name a folder with other files, such as a home folder, which must not be changed.
 */
async function refuseOtherFiles(folder: string): Promise<void> {
  const names = await readdir(folder)
  if (names.includes('data')) return
  if (names.includes('PG_VERSION')) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `${folder} is itself a data folder of PostgreSQL. Move its contents to ${folder}/data, or ` +
        'name another folder.',
    )
  }
  const others = names.filter((name) => !/^(?:draft-|lost\+found$|\.)/.test(name))
  if (others.length > 0) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `${folder} contains other files (${others.slice(0, 3).join(', ')}), so no database is created ` +
        'in it. Name an empty folder, or one that does not exist yet.',
    )
  }
}

/**
 * Creates a database under a temporary name and renames it when it is complete, so that an
 * interrupted start does not leave a partial database.
 */
async function createDatabase(settings: DataFolderSettings, data: string): Promise<void> {
  const { folder, binaries, account, log } = settings
  log.info(`Creating a PostgreSQL ${binaries.version} database in ${folder}`)
  await removeDeadDrafts(folder)
  const draft = await mkdtemp(join(folder, `draft-${toOwnMark()}-`))
  try {
    if (account) await chown(draft, account.uid, account.gid)
    await initialize(binaries, draft, account)
    await rename(draft, data)
    for (const written of [folder, dirname(folder)]) await syncFolder(written)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    // Another process was faster; its database is used.
    if (await exists(data)) return
    throw error
  }
}

/**
 * Sets `$data` to the data folder, $1, for the following commands. If the user who runs them cannot
 * reach the folder because only root can enter its parents, they use it through the working
 * directory, which root has set.
 */
export const enterData = `
data=$1; shift
(cd "$data") 2>/dev/null || data=/proc/self/cwd
`

async function initialize(
  binaries: Binaries,
  draft: string,
  account: Account | undefined,
): Promise<void> {
  try {
    await runInitdb(binaries.initdb, draft, account).catch(async (error: unknown) => {
      if (!isNameMissing(toFailureText(error))) throw error
      await using programs = await createNamelessPrograms(binaries, account)
      if (programs === undefined) throw error
      await runInitdb(programs.initdb, draft, account)
    })
  } catch (error) {
    throw new EmbeddedPostgresError(
      'failed_start',
      `PostgreSQL could not create a database in ${dirname(draft)}: ${toFailureText(error)}`,
      error,
    )
  }
}

async function runInitdb(
  initdb: string,
  draft: string,
  account: Account | undefined,
): Promise<void> {
  const options = [
    ...['--username', user, '--auth-local', 'peer', '--auth-host', 'reject'],
    // Makes sort order and character classes the same on every system, independent of its
    // libraries.
    ...['--encoding', 'UTF8', '--no-locale'],
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
    ...Object.entries(firstSettings).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
  ]
  const script = `${enterData} exec "$@" --pgdata "$data"`
  const args = ['-c', script, 'initdb', draft, initdb, ...options]
  await runAs(account, draft, '/bin/sh', args)
}

async function checkVersion(data: string, { version }: Binaries): Promise<void> {
  const found = (await readFile(join(data, 'PG_VERSION'), 'utf8').catch(toUndefined))?.trim()
  if (found === undefined) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `${data} is not a data folder of PostgreSQL, or it is damaged: it has no readable PG_VERSION. ` +
        'Restore it from a backup, or move it elsewhere to start with an empty database.',
    )
  }
  const [own = ''] = version.split('.')
  if (found !== own) {
    throw new EmbeddedPostgresError(
      'wrong_version',
      `${data} was created by PostgreSQL ${found}, and this server includes PostgreSQL ${own}, which ` +
        `cannot read it. Write a backup with the release that includes PostgreSQL ${found} (auth backup ` +
        'FILE). Then name a new folder and restore the backup with this release (auth restore FILE).',
    )
  }
}

/**
 * A restored folder often belongs to root or is readable by all users, and PostgreSQL accepts
 * neither.
 */
async function ensureOwner(data: string, { account, log }: DataFolderSettings): Promise<void> {
  const { uid, mode } = await stat(data)
  if (account && uid !== account.uid) {
    log.info(`Changing the owner of ${data} to the user "${account.name}", who runs PostgreSQL`)
    await giveTo(account, data)
  } else if (!account && uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `${data} belongs to the user with id ${uid}. Start this server as that user, or change the owner of the ` +
        'folder with chown -R.',
    )
  }
  if (![0o700, 0o750].includes(mode & 0o777)) await chmod(data, 0o700)
}

async function giveTo({ uid, gid }: Account, path: string): Promise<void> {
  await lchown(path, uid, gid)
  if (!(await lstat(path)).isDirectory()) return
  for (const name of await readdir(path)) await giveTo({ name: '', uid, gid }, join(path, name))
}

/**
 * Not needed on Linux, where `enterData` handles this case.
 * @throws {EmbeddedPostgresError} if the user cannot enter the folder.
 */
async function checkEntry(data: string, account: Account): Promise<void> {
  if (process.platform === 'linux') return
  try {
    await runAs(account, '/', '/bin/sh', ['-c', 'cd "$1"', 'sh', data])
  } catch (error) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `The user "${account.name}", who runs PostgreSQL, cannot enter ${data}. Name a folder whose ` +
        'parent folders are not restricted to root.',
      error,
    )
  }
}

/** Removes drafts of processes that were killed while creating a database. */
async function removeDeadDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const mark = /^draft-(\d+-\w+)-/.exec(name)?.[1]
    if (mark === undefined || findByMark(mark)) continue
    // The draft may still be written to; the next start tries again.
    await rm(join(folder, name), { recursive: true, force: true }).catch(toUndefined)
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(toUndefined)) !== undefined
}

function toUndefined(): undefined {
  return undefined
}

/**
 * Containers often run under a user id without a name, and initdb fails if it cannot look up the
 * name of its user, although the name is passed as an option. These are patched copies of the
 * programs that look up the first user of the system instead (getpwent in place of getpwuid, which
 * takes one more argument and returns the same type). They are only used to create a database: a
 * running server does not look up its own name. docs/decisions/019-user-ids-without-a-name.md
 * discusses the alternatives.
 */
interface NamelessPrograms extends AsyncDisposable {
  readonly initdb: string
}

const originalLookup = Buffer.from('\0getpwuid\0')
const replacementLookup = Buffer.from('\0getpwent\0')

/** Recognises the error of initdb for a user without a name. */
function isNameMissing(output: string): boolean {
  return /could not look up effective user ID/.test(output)
}

/** Undefined if the programs do not use the expected lookup function. */
async function createNamelessPrograms(
  { initdb, postgres }: Binaries,
  account: Account | undefined,
): Promise<NamelessPrograms | undefined> {
  const copies = await Promise.all([initdb, postgres].map(replaceLookup))
  if (copies.includes(undefined)) return undefined
  const native = dirname(dirname(initdb))
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-initdb-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await mkdir(join(folder, 'bin'))
    for (const [at, program] of [initdb, postgres].entries()) {
      const path = join(folder, 'bin', basename(program))
      await writeFile(path, copies[at] ?? '')
      await chmod(path, 0o755)
    }
    for (const name of ['lib', 'share']) await symlink(join(native, name), join(folder, name))
    await chmod(join(folder, 'bin'), 0o755)
    if (account) await chown(folder, account.uid, account.gid)
    return { initdb: join(folder, 'bin', basename(initdb)), [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function replaceLookup(program: string): Promise<Buffer | undefined> {
  const bytes = await readFile(program)
  const at = bytes.indexOf(originalLookup)
  if (at < 0) return undefined
  replacementLookup.copy(bytes, at)
  return bytes
}
