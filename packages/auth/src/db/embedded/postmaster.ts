import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { chown, mkdtemp, rmdir, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import { type Account, toSpawnOptions } from './account.ts'
import { enterData } from './data-folder.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { ownerSetting, toOwnMark } from './occupant.ts'
import { socketFile, toFixedSettings } from './settings.ts'

/** Time limit of a fast shutdown; less than the time that the life cycle allows for closing. */
export const shutdownMs = 8000

const prefix = 'portcullis-pg-'

/** Marks the socket folder for removal together with the server that uses it. */
const stoppingFile = 'stopping'

/**
 * Maximum length of a socket path including the terminating zero, on the most restrictive system
 * (macOS).
 */
const mostBytes = 103

/**
 * Runs PostgreSQL until its standard input ends. That happens when it is stopped, and also when
 * this process ends for any reason, because the kernel closes the pipe. PostgreSQL then shuts down
 * in an orderly way.
 *
 * Every process of PostgreSQL inherits the lock on the data folder (file descriptor 9), so the lock
 * is released only when the last of them has ended. PostgreSQL also has its own lock, but that does
 * not detect processes of other containers. On systems without `flock`, only that lock is used.
 *
 * The orderly shutdown has a time limit, because PostgreSQL 18 hangs if it is stopped while it
 * recovers from the crash of one of its processes. After that, an immediate shutdown follows, which
 * does not lose any acknowledged write.
 *
 * A user without a name cannot be authenticated by name. Then the folder of the socket, which no
 * other user can enter, is the only protection.
 *
 * Arguments: the data folder, which `enterData` shifts away; whether another program uses the id in
 * postmaster.pid by now; the name of our user or nothing; the folder of the socket, which is removed
 * when this process ends and kept when only PostgreSQL ends; the program and its options.
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
  /**
   * The user of this system who may connect, which is ours. Undefined if our user id has no name.
   */
  readonly userName: string | undefined
  readonly isPidRecycled: boolean
  readonly log: Pick<Log, 'debug' | 'warning'>
}

export interface Postmaster {
  /** Resolves with the reason when it has ended, whether requested or not. */
  readonly ended: Promise<string>
  /** Closes connections, writes all data to disk, and resolves when the process has ended. */
  stop(): Promise<void>
}

/**
 * Resolves when it accepts connections. Resolves to undefined if another server, or processes left
 * by a killed one, use the folder.
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
      // Ctrl-C in a terminal must reach only this process, because PostgreSQL is stopped last.
      detached: true,
      stdio: ['pipe', 'ignore', 'pipe'],
    },
  )
  const ended = toEnd(child)
  child.stdin.on('error', () => {})
  const lastLines = await readUntilReady(child.stderr, ended, log)
  if (lastLines === 'ready') return { ended, stop: () => stop(child.stdin, ended) }
  const output = lastLines.join('\n')
  if (child.exitCode === busyStatus || isBusy(output)) return undefined
  throw new Error(output === '' ? await ended : output)
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
    return toReason(error)
  }
}

/**
 * Forwards the output of PostgreSQL to the log.
 * @returns as soon as the server is ready, or with its last lines if it ends before.
 */
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
    // Failures before the server is ready are part of the error that reports the failed start.
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

function isBusy(output: string): boolean {
  return /lock file "postmaster\.pid" already exists|pre-existing shared memory block/.test(output)
}

function usualFolders(): readonly string[] {
  return [tmpdir(), '/tmp', '/var/tmp']
}

/**
 * Creates a folder for the socket that no other user can enter. It is not next to the data, because
 * the path of a socket must be short.
 */
export async function createSocketFolder(account: Account | undefined): Promise<string> {
  const candidates = usualFolders()
  const parent = candidates.find((folder) => isShort(folder) && (!account || isOpenToAll(folder)))
  if (parent === undefined) {
    throw new EmbeddedPostgresError(
      'failed_start',
      `None of ${candidates.join(', ')} can contain the socket of PostgreSQL: set TMPDIR to a folder with ` +
        'a short path that all users can enter.',
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

/** Removes files that a killed server left behind, which would prevent the next start. */
export async function emptySocketFolder(folder: string): Promise<void> {
  for (const name of [socketFile, `${socketFile}.lock`, stoppingFile]) {
    await unlink(join(folder, name)).catch(() => undefined)
  }
}

/**
 * Removes only folders that can be ours, because the path may come from a file that others can
 * write.
 */
export async function removeSocketFolder(folder: string): Promise<void> {
  const isOurs = basename(folder).startsWith(prefix) && usualFolders().includes(dirname(folder))
  if (!isOurs) return
  await emptySocketFolder(folder)
  await rmdir(folder).catch(() => undefined)
}
