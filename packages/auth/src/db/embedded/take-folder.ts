import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log'
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
  /** We had the folder until now: a server of ours that is still there is one we lost. */
  readonly isOurs: boolean
  /** How long what is left of another server may take to end. */
  readonly patienceMs: number
}

const pauseMs = 50

/**
 * Starts PostgreSQL on a data folder as soon as nobody else has it. What a killed process left
 * running is ended first; what belongs to a living one is an error that names it.
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
      if (isNew) log.info(`Ending a PostgreSQL that was left behind, process ${occupant.pid}`)
    } else {
      const started = await tryStart(settings, occupant.kind === 'recycled')
      if (started) return started
      if (!isWaiting) log.info(`Waiting for another process to leave ${data}`)
      isWaiting = true
    }
    if (performance.now() > deadline) throw busy(data, 'another process')
    await sleep(pauseMs)
  }
}

/** Resolves when no server of ours is on the folder, also none whose end we could not see. */
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
    throw busy(data, `a PostgreSQL that was started by other means (process ${occupant.pid})`)
  }
}

function busy(data: string, who: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'in_use',
    `${data} is in use by ${who}. Only one server can have an embedded database: stop that one, ` +
      'name another folder, or let both use a PostgreSQL that runs on its own.',
  )
}

/** Undefined when somebody else has the folder. */
async function tryStart(
  settings: TakeSettings,
  isPidRecycled: boolean,
): Promise<Postmaster | undefined> {
  try {
    return await startPostmaster({ ...settings, isPidRecycled })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new EmbeddedPostgresError(
      'failed_start',
      `PostgreSQL did not start on ${settings.data}:\n${reason}`,
      error,
    )
  }
}

/**
 * Ends a server that is not our child: in order and, when that takes too long, at once. To be called
 * until it is gone. @returns whether this is the first time for this server.
 */
function createEnder(): (pid: number) => boolean {
  let told: { readonly pid: number; readonly atMs: number } | undefined
  return (pid) => {
    const nowMs = performance.now()
    const isNew = told?.pid !== pid
    if (isNew) signal(pid, 'SIGINT')
    else if (told && nowMs - told.atMs > shutdownMs) signal(pid, 'SIGQUIT')
    if (isNew) told = { pid, atMs: nowMs }
    return isNew
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}
