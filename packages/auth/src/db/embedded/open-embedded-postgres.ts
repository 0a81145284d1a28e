import { userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log'
import { type Account, chooseAccount } from './account.ts'
import { type Binaries, findPackage, provideBinaries, usualCacheFolders } from './binaries.ts'
import { provideDataFolder, provideFolder } from './data-folder.ts'
import { readPostmasterFile } from './occupant.ts'
import {
  createSocketFolder,
  emptySocketFolder,
  type Postmaster,
  removeSocketFolder,
} from './postmaster.ts'
import { toSocketUrl } from './running-server.ts'
import { keptForCommands, maxConnections } from './settings.ts'
import { leaveFolder, takeFolder } from './take-folder.ts'

export interface EmbeddedPostgresSettings {
  /** Holds the database; made when it is missing. */
  readonly folder: string
  readonly log: Pick<Log, 'debug' | 'info' | 'warning' | 'error'>
  /** Where the package with the programs lies, and where a copy of them may; tests move both. */
  readonly packageFolder?: string
  readonly cacheFolders?: readonly string[]
  /** How long to wait for what a killed server left running; it writes everything down first. */
  readonly patienceMs?: number
}

export interface EmbeddedPostgres extends AsyncDisposable {
  /** `postgres://…`, through a socket that only our user can use, so without a password. */
  readonly url: string
  /** Of all pools together. */
  readonly maxConnections: number
  /** `18.4` */
  readonly version: string
}

/**
 * Starts a PostgreSQL of our own on a folder, and again whenever it ends by itself. Only one
 * process can have a folder; when it is gone, so is its PostgreSQL a moment later.
 */
export async function openEmbeddedPostgres(
  settings: EmbeddedPostgresSettings,
): Promise<EmbeddedPostgres> {
  const { log, patienceMs = 30_000 } = settings
  const { packageFolder = findPackage(), cacheFolders = usualCacheFolders() } = settings
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
      maxConnections: maxConnections - keptForCommands,
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

/** PostgreSQL lets a user of this system in by name. Undefined where ours has none. */
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
  return `PostgreSQL ${version} runs on ${data}${who}, process ${file?.pid}`
}

interface SupervisionSettings {
  readonly log: EmbeddedPostgresSettings['log']
  readonly socketFolder: string
  readonly restart: () => Promise<Postmaster>
}

const longestPauseMs = 5000
const calmAfterMs = 60_000

/** Keeps it running: at once after the first end, with growing pauses when it keeps ending. */
function supervise(first: Postmaster, { log, socketFolder, restart }: SupervisionSettings) {
  const stopping = new AbortController()
  const run = async () => {
    let postmaster: Postmaster | undefined = first
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      if (postmaster) {
        const startedAt = performance.now()
        const reason = await Promise.race([postmaster.ended, toAborted(stopping.signal)])
        if (reason === 'stopping') break
        log.error(`PostgreSQL ended unexpectedly (${reason}): starting it again`)
        if (performance.now() - startedAt > calmAfterMs) failures = 0
        postmaster = undefined
      }
      if (failures > 0) {
        const pauseMs = Math.min(longestPauseMs, 100 * 2 ** failures)
        await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
        if (stopping.signal.aborted) break
      }
      await emptySocketFolder(socketFolder)
      postmaster = await restart().catch((error: unknown) => {
        log.error(`PostgreSQL did not start: ${error instanceof Error ? error.message : error}`)
        return undefined
      })
      if (postmaster) log.info('PostgreSQL runs again')
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
