import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log/log'
import { toMessage } from '@portcullis/service-kit/text/reason'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { findOccupant, type Occupant } from './occupant.ts'
import {
  type Postmaster,
  type PostmasterSettings,
  shutdownMs,
  startPostmaster,
} from './postmaster.ts'

interface TakeSettings extends Omit<PostmasterSettings, 'isPidRecycled' | 'log'> {
  readonly log: Pick<Log, 'debug' | 'info' | 'warning'>
  /**
   * Whether this process already owned the folder, so that a server of ours that is still running
   * was lost.
   */
  readonly isOurs: boolean
  /** How long processes of another server may take to end. */
  readonly patienceMs: number
}

const pauseMs = 50

/**
 * Starts PostgreSQL on a data folder as soon as it is free. Processes that a killed server left
 * behind are stopped first; if a running server uses the folder, an error names it.
 */
export async function takeFolder(settings: TakeSettings): Promise<Postmaster> {
  const { data, log, patienceMs } = settings
  const deadline = performance.now() + patienceMs
  const end = createEnder()
  let isWaiting = false
  for (;;) {
    const occupant = await findOccupant(data)
    refuseOwners(occupant, settings)
    const isRunning = occupant.kind === 'orphan' || occupant.kind === 'owned'
    if (isRunning) {
      const isNew = end(occupant.pid)
      if (isNew) log.info(`Stopping an orphaned PostgreSQL, process ${occupant.pid}`)
    } else {
      const started = await tryStart(settings, occupant.kind === 'recycled')
      if (started) return started
      if (!isWaiting) log.info(`Waiting for another process to release ${data}`)
      isWaiting = true
    }
    if (performance.now() > deadline) throw busy(data, 'another process')
    await sleep(pauseMs)
  }
}

/**
 * Resolves when no server of ours uses the folder, including one whose end could not be observed.
 */
export async function leaveFolder(data: string): Promise<void> {
  const end = createEnder()
  for (;;) {
    const occupant = await findOccupant(data)
    if (occupant.kind !== 'owned' || occupant.ownerPid !== process.pid) return
    end(occupant.pid)
    await sleep(pauseMs)
  }
}

function refuseOwners(occupant: Occupant, { data, isOurs }: TakeSettings): void {
  if (occupant.kind === 'owned' && !(isOurs && occupant.ownerPid === process.pid)) {
    throw busy(data, `the process ${occupant.ownerPid}`)
  }
  if (occupant.kind === 'foreign') {
    throw busy(data, `a PostgreSQL that was started separately (process ${occupant.pid})`)
  }
}

function busy(data: string, who: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'in_use',
    `${data} is in use by ${who}. Only one server can use an embedded database. Stop the other one, ` +
      'name another folder, or let both use a separate PostgreSQL server.',
  )
}

/** Undefined if another process uses the folder. */
async function tryStart(
  settings: TakeSettings,
  isPidRecycled: boolean,
): Promise<Postmaster | undefined> {
  try {
    return await startPostmaster({ ...settings, isPidRecycled })
  } catch (error) {
    throw new EmbeddedPostgresError(
      'failed_start',
      `PostgreSQL did not start on ${settings.data}:\n${toMessage(error)}`,
      error,
    )
  }
}

/**
 * Stops a server that is not a child process: first in an orderly way, then immediately if that
 * takes too long. Call it until the server has ended. @returns whether this is the first call for
 * this server.
 */
function createEnder(): (pid: number) => boolean {
  let signalled: { readonly pid: number; readonly atMs: number } | undefined
  return (pid) => {
    const nowMs = performance.now()
    const isNew = signalled?.pid !== pid
    if (isNew) signal(pid, 'SIGINT')
    else if (signalled && nowMs - signalled.atMs > shutdownMs) signal(pid, 'SIGQUIT')
    if (isNew) signalled = { pid, atMs: nowMs }
    return isNew
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended in the meantime.
  }
}
