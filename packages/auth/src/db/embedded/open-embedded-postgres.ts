import { realpath } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log/log'
import { toCode, toMessage } from '@portcullis/service-kit/text/reason'
import { openClient } from '../connection/open-client.ts'
import { type Account, chooseAccount } from './account.ts'
import { type Binaries, defaultCacheFolders, findPackage, provideBinaries } from './binaries.ts'
import { provideDataFolder, provideFolder, user } from './data-folder.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { findOccupant, readPostmasterFile } from './occupant.ts'
import {
  createSocketFolder,
  emptySocketFolder,
  type Postmaster,
  removeSocketFolder,
} from './postmaster.ts'
import { maxConnections, reservedForCommands } from './settings.ts'
import { leaveFolder, takeFolder } from './take-folder.ts'

export interface EmbeddedPostgresSettings {
  /** Contains the database; created if it is missing. */
  readonly folder: string
  readonly log: Pick<Log, 'debug' | 'info' | 'warning' | 'error'>
  /** The package with the programs and the folders for a copy of them; tests change both. */
  readonly packageFolder?: string
  readonly cacheFolders?: readonly string[]
  /**
   * How long to wait for the processes that a killed server left running, which first write their
   * data to disk.
   */
  readonly patienceMs?: number
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** `postgres://…`, through a socket that only our user can access, so without a password. */
  readonly url: string
  /** The limit for all pools together. */
  readonly maxConnections: number
  /** `18.4` */
  readonly version: string
}

/**
 * Starts an embedded PostgreSQL on a folder, and restarts it if it ends unexpectedly. Only one
 * process can use a folder; when it ends, its PostgreSQL ends shortly after.
 */
export async function openEmbeddedPostgres(
  settings: EmbeddedPostgresSettings,
): Promise<EmbeddedPostgres> {
  const { log, patienceMs = 30_000 } = settings
  const { packageFolder = findPackage(), cacheFolders = defaultCacheFolders() } = settings
  const folder = await provideFolder(settings.folder)
  const userName = findUserName()
  const account = await chooseAccount(folder)
  const binaries = await provideBinaries({ packageFolder, account, cacheFolders, log })
  const data = await provideDataFolder({ folder, binaries, account, log })
  const leftover = (await readPostmasterFile(data))?.socketFolder
  const socketFolder = await createSocketFolder(account)
  const program = binaries.postgres
  const common = { program, data, socketFolder, account, userName, log, patienceMs }
  const take = (isOurs: boolean) => takeFolder({ ...common, isOurs })
  try {
    const first = await take(false)
    if (leftover !== undefined) await removeSocketFolder(leftover)
    log.info(await describe(data, binaries, account))
    const supervision = supervise(first, { log, socketFolder, restart: () => take(true) })
    return {
      url: toSocketUrl(socketFolder),
      maxConnections: maxConnections - reservedForCommands,
      version: binaries.version,
      async [Symbol.asyncDispose]() {
        await supervision.stop()
        await leaveFolder(data)
        await removeSocketFolder(socketFolder)
      },
    }
  } catch (error) {
    await removeSocketFolder(socketFolder)
    throw error
  }
}

/** PostgreSQL authenticates users of this system by name. Undefined if our user id has no name. */
function findUserName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}

async function describe(
  data: string,
  { version }: Binaries,
  account: Account | undefined,
): Promise<string> {
  const file = await readPostmasterFile(data)
  const who = account ? ` as the user "${account.name}"` : ''
  return `PostgreSQL ${version} is running on ${data}${who}, process ${file?.pid}`
}

interface SupervisionSettings {
  readonly log: EmbeddedPostgresSettings['log']
  readonly socketFolder: string
  readonly restart: () => Promise<Postmaster>
}

const longestPauseMs = 5000
/** After this uptime, the next restart is immediate again. */
const stableAfterMs = 60_000

/**
 * Keeps PostgreSQL running: restarts it immediately the first time, and with increasing delays if
 * it keeps ending.
 */
function supervise(first: Postmaster, { log, socketFolder, restart }: SupervisionSettings) {
  const stopping = new AbortController()
  const run = async () => {
    let postmaster: Postmaster | undefined = first
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      if (postmaster) {
        const startedAt = performance.now()
        const reason = await Promise.race([postmaster.ended, toAborted(stopping.signal)])
        if (reason === 'stopping') break
        log.error(`PostgreSQL ended unexpectedly (${reason}), restarting it`)
        if (performance.now() - startedAt > stableAfterMs) failures = 0
        postmaster = undefined
      }
      if (failures > 0) {
        const pauseMs = Math.min(longestPauseMs, 100 * 2 ** failures)
        await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
        if (stopping.signal.aborted) break
      }
      await emptySocketFolder(socketFolder)
      postmaster = await restart().catch((error: unknown) => {
        log.error(`PostgreSQL did not start: ${toMessage(error)}`)
        return undefined
      })
      if (postmaster) log.info('PostgreSQL is running again')
    }
    await postmaster?.stop()
  }
  const ended = run()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

async function toAborted(signal: AbortSignal): Promise<'stopping'> {
  if (signal.aborted) return 'stopping'
  const { promise, resolve } = Promise.withResolvers<'stopping'>()
  signal.addEventListener('abort', () => resolve('stopping'), { once: true })
  return promise
}

/** `postgres://…`, through a socket that only its user can access, so without a password. */
function toSocketUrl(socketFolder: string): string {
  return `postgres://${user}@localhost/${user}?host=${encodeURIComponent(socketFolder)}`
}

const pauseMs = 50
const patienceMs = 30_000

/** @throws {EmbeddedPostgresError} if the running server accepts only another user. */
async function checkAccess(url: string, data: string): Promise<void> {
  try {
    const client = await openClient(url, 'portcullis-auth')
    await client.end()
  } catch (error) {
    if (toCode(error) !== '28000') throw error
    throw new EmbeddedPostgresError(
      'in_use',
      `${data} is in use by a server of another user, and only that user can access it. ` +
        'Run this command as that user, or stop the server.',
      error,
    )
  }
}

/**
 * Returns the URL of the PostgreSQL that another process runs on the folder; undefined if there is
 * none. Waits for one that is starting.
 */
export async function findRunningServer(folder: string): Promise<string | undefined> {
  const real = await realpath(folder).catch(() => undefined)
  if (real === undefined) return undefined
  const data = join(real, 'data')
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    if ((await findOccupant(data)).kind !== 'owned') return undefined
    const file = await readPostmasterFile(data)
    if (file?.isReady && file.socketFolder !== undefined) {
      const url = toSocketUrl(file.socketFolder)
      await checkAccess(url, data)
      return url
    }
    await sleep(pauseMs)
  }
  return undefined
}
