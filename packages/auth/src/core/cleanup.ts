import type { Log } from '@portcullis/service-kit/log'
import {
  purgeChallenges,
  purgeCodeAttempts,
  purgedAtOnce,
  purgeFactors,
  purgeFlowStates,
  purgeMessageGaps,
  purgeOneTimeTokens,
  purgeSessions,
  purgeWebAuthnChallenges,
} from '../db/cleanup.ts'
import type { Queries } from '../db/database.ts'

export interface CleanupSettings {
  readonly db: Queries
  readonly log: Pick<Log, 'debug' | 'warning'>
  readonly now: () => number
  /** How long the link in an email may be opened. */
  readonly linkSeconds: number
  /** The longest time between two messages to one address. */
  readonly gapMs: number
  readonly everyMs?: number
  readonly onDeleted?: (what: string, count: number) => void
}

const dayMs = 86_400_000
/** After the click there are five minutes to exchange the code. */
const codeMs = 300_000

/** Deletes what nobody needs any more, now and then, a little at a time. */
export function openCleanup(settings: CleanupSettings): Disposable {
  const { db, log, now, linkSeconds, gapMs, everyMs = 60_000, onDeleted } = settings
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const plan = (): void => {
    if (isClosed) return
    // Processes that started together need not clean up together.
    timer = setTimeout(() => void run(), everyMs * (0.5 + Math.random())).unref()
  }
  const run = async (): Promise<void> => {
    try {
      for (const [what, count] of await cleanUp(db, now(), linkSeconds, gapMs)) {
        if (count === 0) continue
        log.debug(`Deleted ${count} ${what}`)
        onDeleted?.(what, count)
      }
    } catch (error) {
      log.warning(`Cleaning up failed: ${error instanceof Error ? error.message : error}`)
    }
    plan()
  }
  plan()
  return {
    [Symbol.dispose]() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** One round. How many rows of what were deleted. */
export async function cleanUp(
  db: Queries,
  nowMs: number,
  linkSeconds: number,
  gapMs = dayMs,
): Promise<[what: string, count: number][]> {
  // A session that has ended is kept for a day: it can tell why a refresh fails.
  const rounds = [
    ['ended sessions', purgeSessions, dayMs],
    ['one-time tokens', purgeOneTimeTokens, dayMs],
    ['message gaps', purgeMessageGaps, gapMs],
    ['tried codes', purgeCodeAttempts, Math.max(dayMs, linkSeconds * 1_000)],
    ['challenges', purgeChallenges, dayMs],
    ['passkey challenges', purgeWebAuthnChallenges, dayMs],
    ['unverified factors', purgeFactors, dayMs],
    ['flow states', purgeFlowStates, Math.max(dayMs, linkSeconds * 1_000 + codeMs)],
  ] as const
  const done: [string, number][] = []
  for (const [what, statement, keptMs] of rounds) {
    let sum = 0
    for (let last = purgedAtOnce; last === purgedAtOnce && sum < 20 * purgedAtOnce; ) {
      const [row] = await db.run<{ count: number }>(statement, [new Date(nowMs - keptMs)])
      last = row?.count ?? 0
      sum += last
    }
    done.push([what, sum])
  }
  return done
}
