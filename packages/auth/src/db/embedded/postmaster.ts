import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { chown, mkdtemp, rmdir, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Log } from '@portcullis/service-kit/log'
import { type Account, toSpawnOptions } from './account.ts'
import { enterData } from './data-folder.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { ownerSetting, toOwnMark } from './occupant.ts'
import { socketFile, toFixedSettings } from './settings.ts'

/** How long an orderly shutdown may take; less than what the life cycle gives all that closes. */
export const shutdownMs = 8000

const prefix = 'portcullis-pg-'

/** Says that the folder goes with the server that uses it. */
const stoppingFile = 'stopping'

/** Of a socket's path, on the stingiest system (macOS), with the zero that ends it. */
const mostBytes = 103

/**
 * Runs PostgreSQL until its standard input ends, which is when we stop it and also when we are
 * gone, however we went: the kernel closes the pipe, and PostgreSQL shuts down in an orderly way.
 *
 * Every process of PostgreSQL inherits the lock on the data folder (file 9), so it is free when
 * the last of them is gone, and not before. PostgreSQL has a lock of its own as well, but that
 * does not see processes of other containers. Where there is no `flock`, it has to do.
 *
 * The orderly way has a limit: PostgreSQL 18 hangs when it is told to end while it recovers from the
 * end of one of its own processes. Then it is told to drop everything, which loses nothing that
 * was acknowledged.
 *
 * A user without a name cannot be let in by name. Then the folder of the socket, which nobody else can
 * enter, is the only guard.
 *
 * $1 data folder, $2 whether postmaster.pid is another program's by now, $3 our user's name or nothing,
 * $4 the folder of the socket, which goes when we go and stays when only PostgreSQL does.
 */
const script = `
exec 3<&0 </dev/null
if command -v flock >/dev/null; then
  exec 9<.
  flock -n 9 2>/dev/null
  [ $? -eq 1 ] && exit 75
fi
${enterData}
[ "$1" = recycled ] && rm -f postmaster.pid
if [ -n "$2" ]; then
  echo 'local all all peer map=portcullis' >pg_hba.conf
  printf 'portcullis "%s" postgres\\n' "$2" >pg_ident.conf
else
  echo 'local all all trust' >pg_hba.conf
fi
sockets=$3
shift 3
"$@" -D "$data" 3<&- &
server=$!
{
  read -r line <&3
  exec 3<&-
  : >"$sockets/${stoppingFile}"
  kill -s INT $server
  tries=0
  while kill -s 0 $server && [ $tries -lt ${shutdownMs / 100} ]; do
    sleep 0.1
    tries=$((tries + 1))
  done
  kill -s QUIT $server
} 9<&- 2>/dev/null &
reader=$!
exec 3<&-
wait $server
status=$?
kill $reader 2>/dev/null
[ -e "$sockets/${stoppingFile}" ] && rm -rf "$sockets"
exit $status
`

const busyStatus = 75

export interface PostmasterSettings {
  readonly program: string
  readonly data: string
  readonly socketFolder: string
  readonly account: Account | undefined
  /** The user of this system who may connect: ourselves. Undefined where we have no name. */
  readonly userName: string | undefined
  readonly isPidRecycled: boolean
  readonly log: Pick<Log, 'debug' | 'warning'>
}

export interface Postmaster {
  /** Resolves to the reason when it has ended, asked to or not. */
  readonly ended: Promise<string>
  /** Ends connections, writes everything down, resolves when it is gone. */
  stop(): Promise<void>
}

/**
 * Resolves when it accepts connections; to undefined if another server has the folder, or the rest of
 * one that was killed.
 */
export async function startPostmaster(
  settings: PostmasterSettings,
): Promise<Postmaster | undefined> {
  const { program, data, socketFolder, account, userName, isPidRecycled, log } = settings
  const flags = Object.entries({
    ...toFixedSettings(socketFolder),
    [ownerSetting]: toOwnMark(),
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const pidState = isPidRecycled ? 'recycled' : 'kept'
  const child = spawn(
    '/bin/sh',
    [
      ...['-c', script, 'portcullis-postgres', data, pidState, userName ?? '', socketFolder],
      ...[program, ...flags],
    ],
    {
      ...toSpawnOptions(account, data),
      // Ctrl-C in a terminal is for us: PostgreSQL goes last.
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  )
  const ended = toEnd(child)
  child.stdin.on('error', () => {})
  const lastLines = await readUntilReady(child.stderr, ended, log)
  if (lastLines === 'ready') return { ended, stop: () => stop(child.stdin, ended) }
  const complaint = lastLines.join('\n')
  if (child.exitCode === busyStatus || isBusy(complaint)) return undefined
  throw new Error(complaint === '' ? await ended : complaint)
}

async function stop(input: Writable, ended: Promise<string>): Promise<void> {
  input.end()
  await ended
}

async function toEnd(child: ChildProcess): Promise<string> {
  try {
    const [status, signal] = await once(child, 'exit')
    return signal === null ? `exit status ${status}` : `signal ${signal}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Follows the log to its end. @returns its last lines when the server ends before it is ready. */
async function readUntilReady(
  output: Readable,
  ended: Promise<string>,
  log: PostmasterSettings['log'],
): Promise<'ready' | readonly string[]> {
  const ready = Promise.withResolvers<'ready'>()
  let isReady = false
  let lastLines: string[] = []
  const lines = createInterface({ input: output })
  lines.on('line', (line) => {
    lastLines = [...lastLines.slice(-5), line]
    // A start that fails is told by an error.
    log[isReady && isFailure(line) ? 'warning' : 'debug'](`PostgreSQL: ${line}`)
    if (!line.endsWith('database system is ready to accept connections')) return
    isReady = true
    ready.resolve('ready')
  })
  const closed = once(lines, 'close')
  return Promise.race([ready.promise, ended.then(() => closed).then(() => lastLines)])
}

/** PostgreSQL also reports as FATAL that it ends autovacuum at shutdown, which is not a failure. */
export function isFailure(line: string): boolean {
  return /^(?:FATAL|PANIC):(?!\s+terminating autovacuum process)/.test(line)
}

function isBusy(complaint: string): boolean {
  return /lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(
    complaint,
  )
}

function usualFolders(): readonly string[] {
  return [tmpdir(), '/tmp', '/var/tmp']
}

/**
 * A folder for the socket that nobody else can enter. Not beside the data: the path of a socket
 * must be short.
 */
export async function createSocketFolder(account: Account | undefined): Promise<string> {
  const candidates = usualFolders()
  const parent = candidates.find((folder) => isShort(folder) && (!account || isOpenToAll(folder)))
  if (parent === undefined) {
    throw new EmbeddedPostgresError(
      'failed_start',
      `None of ${candidates.join(', ')} can hold PostgreSQL's socket: set TMPDIR to a folder with ` +
        'a short path that everybody can enter.',
    )
  }
  const folder = await mkdtemp(join(parent, prefix))
  if (account) await chown(folder, account.uid, account.gid)
  return folder
}

function isShort(parent: string): boolean {
  return Buffer.byteLength(join(parent, `${prefix}XXXXXX`, socketFile)) <= mostBytes
}

function isOpenToAll(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  const mayEnter = (mode & 0o001) !== 0
  return mayEnter && (folder === dirname(folder) || isOpenToAll(dirname(folder)))
}

/** What a server that ended by force left in it would be in the way of the next one. */
export async function emptySocketFolder(folder: string): Promise<void> {
  for (const name of [socketFile, `${socketFile}.lock`, stoppingFile]) {
    await unlink(join(folder, name)).catch(() => undefined)
  }
}

/** Removes only what can be ours: the path may come from a file that others can write. */
export async function removeSocketFolder(folder: string): Promise<void> {
  const isOurs = basename(folder).startsWith(prefix) && usualFolders().includes(dirname(folder))
  if (!isOurs) return
  await emptySocketFolder(folder)
  await rmdir(folder).catch(() => undefined)
}
