import { performance } from 'node:perf_hooks'
import type { Log } from '@portcullis/service-kit/log/log'
import type { Queries } from './database.ts'
import { statement } from './statement.ts'

export interface DatabaseClockSettings {
  readonly db: Queries
  readonly log: Pick<Log, 'warning'>
  readonly everyMs?: number
}

export interface DatabaseClock extends Disposable {
  /** Milliseconds since the epoch, by the clock of PostgreSQL. */
  now(): number
}

const readClock = statement(
  'read_clock',
  'select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms',
).returning<{ readonly ms: number }>()

/**
 * A reading is uncertain by half its round trip. One that is more uncertain than this does not replace
 * the previous one.
 */
const mostUncertainMs = 250
/**
 * A larger difference is logged, because other software on this machine uses the machine's clock.
 */
const warnAboveMs = 5_000
const samples = 3

/**
 * The clock that all processes of a database share, independent of the clocks of their machines:
 * codes expire, bans end and tokens are dated by it. It advances between two readings, also while
 * PostgreSQL is unavailable, and does not change when the clock of this machine is set.
 */
export async function openDatabaseClock(settings: DatabaseClockSettings): Promise<DatabaseClock> {
  const { db, log, everyMs = 30_000 } = settings
  let offsetMs = await readOffset(db, Number.POSITIVE_INFINITY)
  const differenceMs = Date.now() - (performance.now() + (offsetMs ?? 0))
  if (Math.abs(differenceMs) > warnAboveMs) {
    const seconds = Math.round(Math.abs(differenceMs) / 1_000)
    const direction = differenceMs > 0 ? 'ahead of' : 'behind'
    log.warning(
      `The clock of this machine is ${seconds} s ${direction} that of PostgreSQL, which this server uses. ` +
        'Synchronise both, for example with NTP.',
    )
  }
  const follow = async (): Promise<void> => {
    // If PostgreSQL does not answer, the previous offset stays in use.
    offsetMs = (await readOffset(db, mostUncertainMs).catch(() => undefined)) ?? offsetMs
  }
  const timer = setInterval(() => void follow(), everyMs)
  timer.unref()
  return {
    now: () => Math.round(performance.now() + (offsetMs ?? 0)),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/**
 * How far the clock of PostgreSQL is ahead of the monotonic clock of this process. Undefined:
 * uncertain.
 */
async function readOffset(db: Queries, mostMs: number): Promise<number | undefined> {
  let best: { readonly offsetMs: number; readonly tookMs: number } | undefined
  for (let sample = 0; sample < samples; sample += 1) {
    const startedAt = performance.now()
    const [row] = await db.run(readClock)
    const tookMs = performance.now() - startedAt
    if (row === undefined || (best && best.tookMs <= tookMs)) continue
    best = { offsetMs: row.ms - (startedAt + tookMs / 2), tookMs }
  }
  return best && best.tookMs <= 2 * mostMs ? best.offsetMs : undefined
}
