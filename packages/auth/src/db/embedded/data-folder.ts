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
import type { Log } from '@portcullis/service-kit/log'
import { makeFolder } from '@portcullis/service-kit/make-folder'
import { type Account, runAs, toComplaint } from './account.ts'
import type { Binaries } from './binaries.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { findByMark, toOwnMark } from './occupant.ts'
import { firstSettings } from './settings.ts'

/** The only database user; a superuser. */
export const user = 'postgres'

/** Makes the folder where it is missing. @returns its real path. */
export async function provideFolder(folder: string): Promise<string> {
  try {
    makeFolder(folder)
    return await realpath(folder)
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new EmbeddedPostgresError('unusable_folder', `Cannot use ${folder}: ${reason}`, error)
  }
}

interface DataFolderSettings {
  /** Its real path. */
  readonly folder: string
  readonly binaries: Binaries
  readonly account: Account | undefined
  readonly log: Pick<Log, 'info'>
}

/** The data folder of PostgreSQL in ours: made when there is none, and fit to be started on. */
export async function provideDataFolder(settings: DataFolderSettings): Promise<string> {
  const { folder, binaries, account } = settings
  const data = join(folder, 'data')
  await refuseOtherFiles(folder)
  if (!(await exists(data))) await createDatabase(settings, data)
  await checkVersion(data, binaries)
  await settleOwner(data, settings)
  if (account) await checkEntry(data, account)
  return data
}

/** We may be pointed at somebody's home: nothing is done to a folder with other things in it. */
async function refuseOtherFiles(folder: string): Promise<void> {
  const names = await readdir(folder)
  if (names.includes('data')) return
  if (names.includes('PG_VERSION')) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `${folder} is itself a data folder of PostgreSQL. Move what is in it to ${folder}/data, or ` +
        'name another folder.',
    )
  }
  const others = names.filter((name) => !/^(?:draft-|lost\+found$|\.)/.test(name))
  if (others.length > 0) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `${folder} holds other files (${others.slice(0, 3).join(', ')}), so no database is made ` +
        'there. Name an empty folder, or one that does not exist yet.',
    )
  }
}

/** Under another name until it is complete: a start that is killed leaves no half database. */
async function createDatabase(settings: DataFolderSettings, data: string): Promise<void> {
  const { folder, binaries, account, log } = settings
  log.info(`Creating a database of PostgreSQL ${binaries.version} in ${folder}`)
  await removeDeadDrafts(folder)
  const draft = await mkdtemp(join(folder, `draft-${toOwnMark()}-`))
  try {
    if (account) await chown(draft, account.uid, account.gid)
    await initialize(binaries, draft, account)
    await rename(draft, data)
    for (const written of [folder, dirname(folder)]) await syncFolder(written)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    // Another process was quicker; its database is as good as ours.
    if (await exists(data)) return
    throw error
  }
}

/**
 * With $1 as the data folder for the rest. A folder that its user cannot reach, because only root
 * can enter those above it, is reached by having been there from the start.
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
      if (!isNameMissing(toComplaint(error))) throw error
      await using programs = await createNamelessPrograms(binaries, account)
      if (programs === undefined) throw error
      await runInitdb(programs.initdb, draft, account)
    })
  } catch (error) {
    throw new EmbeddedPostgresError(
      'failed_start',
      `PostgreSQL could not make a database in ${dirname(draft)}: ${toComplaint(error)}`,
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
    // The same order and the same letters on every system, whatever its libraries know.
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
      `${data} is no data folder of PostgreSQL, or a damaged one: it has no readable PG_VERSION. ` +
        'Restore it from a backup, or move it away to begin with an empty database.',
    )
  }
  const [own = ''] = version.split('.')
  if (found !== own) {
    throw new EmbeddedPostgresError(
      'wrong_version',
      `${data} was made by PostgreSQL ${found}, and this server brings PostgreSQL ${own}, which ` +
        `cannot read it. Write a backup with the release that brings PostgreSQL ${found} (auth backup ` +
        'FILE); then name a new folder and read it in with this release (auth restore FILE).',
    )
  }
}

/** A restored backup often belongs to root, or can be read by all: PostgreSQL takes neither. */
async function settleOwner(data: string, { account, log }: DataFolderSettings): Promise<void> {
  const { uid, mode } = await stat(data)
  if (account && uid !== account.uid) {
    log.info(`Giving ${data} to the user "${account.name}", who runs PostgreSQL`)
    await giveTo(account, data)
  } else if (!account && uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `${data} belongs to the user with id ${uid}. Start this server as that user, or give the ` +
        'folder to the one who starts it with chown -R.',
    )
  }
  if (![0o700, 0o750].includes(mode & 0o777)) await chmod(data, 0o700)
}

async function giveTo({ uid, gid }: Account, path: string): Promise<void> {
  await lchown(path, uid, gid)
  if (!(await lstat(path)).isDirectory()) return
  for (const name of await readdir(path)) await giveTo({ name: '', uid, gid }, join(path, name))
}

/** Linux has a way around (see `enterData`). */
async function checkEntry(data: string, account: Account): Promise<void> {
  if (process.platform === 'linux') return
  try {
    await runAs(account, '/', '/bin/sh', ['-c', 'cd "$1"', 'sh', data])
  } catch (error) {
    throw new EmbeddedPostgresError(
      'unusable_folder',
      `The user "${account.name}", who runs PostgreSQL, cannot enter ${data}. Name a folder that ` +
        'is not below one that only root can enter.',
      error,
    )
  }
}

/** Left by processes that were killed while they made a database. */
async function removeDeadDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const mark = /^draft-(\d+-\w+)-/.exec(name)?.[1]
    if (mark === undefined || findByMark(mark)) continue
    // It may still be written to; whoever starts next tries again.
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
 * Containers often run under a user id that no file knows, and initdb ends when it cannot look up the
 * name of its user, although it is told which name to use. These are copies of the programs that ask
 * for the first user of the system instead (getpwent in place of getpwuid, which takes an argument
 * more and returns the same). They are only used to make a database: a server that runs does not look
 * up its own name. docs/decisions/019-user-ids-without-a-name.md has the alternatives.
 */
interface NamelessPrograms extends AsyncDisposable {
  readonly initdb: string
}

const asked = Buffer.from('\0getpwuid\0')
const answered = Buffer.from('\0getpwent\0')

/** What initdb says when the user has no name. */
function isNameMissing(complaint: string): boolean {
  return /could not look up effective user ID/.test(complaint)
}

/** Undefined where the programs do not look up names as we know it. */
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
  const at = bytes.indexOf(asked)
  if (at < 0) return undefined
  answered.copy(bytes, at)
  return bytes
}
