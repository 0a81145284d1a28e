import type { Log } from '@portcullis/service-kit/log/log'
import { toCountText } from '@portcullis/service-kit/text/format'
import { toReason } from '@portcullis/service-kit/text/reason'
import type { Queries } from '../../db/database.ts'
import { type Purge, purgedAtOnce, purges } from './statements.ts'

/** How long rows are kept after they have expired. */
export interface CleanupAges {
  /** Lifetime of the links in emails. */
  readonly linkSeconds: number
  /** The longest cooldown between two messages to the same address. */
  readonly cooldownMs: number
  /** How long revocations are reported. Undefined: they are kept forever. */
  readonly revocationsMs?: number | undefined
  /** Undefined: audit entries are kept forever. */
  readonly auditMs?: number | undefined
}

export interface CleanupSettings extends CleanupAges {
  readonly db: Queries
  readonly log: Pick<Log, 'debug' | 'warning'>
  readonly now: () => number
  readonly everyMs?: number
  readonly onRound?: (round: CleanupRound) => void
}

export interface CleanupRound {
  /** `skipped`: another process is cleaning up. */
  readonly outcome: 'completed' | 'skipped' | 'failed'
  readonly durationMs: number
  /** The number of deleted rows by kind. */
  readonly deleted: ReadonlyMap<string, number>
  /** How long ago the oldest remaining row should have been deleted; undefined when it is unknown. */
  readonly lagMs: number | undefined
}

const dayMs = 86_400_000
/** After the link was followed, the code can be exchanged for five minutes. */
const codeMs = 300_000
/** Maximum number of statements for one kind of rows per round. */
const mostBatches = 20

/**
 * Deletes expired rows in small batches, at randomised intervals so that processes do not run at
 * the same time.
 */
export function openCleanup(settings: CleanupSettings): Disposable {
  const { db, log, now, everyMs = 60_000, onRound } = settings
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  const plan = (waitMs: number): void => {
    if (isClosed) return
    timer = setTimeout(() => void run(), waitMs * (0.5 + Math.random())).unref()
  }
  const run = async (): Promise<void> => {
    const startMs = performance.now()
    const round = await cleanUp(db, now(), settings).catch((error: unknown): CleanupRound => {
      if (!isClosed) log.warning(`Cleanup failed: ${toReason(error)}`)
      const durationMs = performance.now() - startMs
      return { outcome: 'failed', durationMs, deleted: new Map(), lagMs: undefined }
    })
    log.debug(describeRound(round))
    onRound?.(round)
    // A backlog is worked off with short pauses, so that requests are not slowed down.
    plan(round.lagMs ? everyMs / 60 : everyMs)
  }
  plan(everyMs)
  return {
    [Symbol.dispose]() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** Deletes all expired rows, up to a limit for each kind. */
export async function cleanUp(
  db: Queries,
  nowMs: number,
  ages: CleanupAges,
): Promise<CleanupRound> {
  const startMs = performance.now()
  const deleted = new Map<string, number>()
  let lagMs = 0
  for (const [what, statement, keptMs] of toSteps(ages)) {
    const step = await purge(db, statement, nowMs - keptMs)
    if (step.count > 0) deleted.set(what, (deleted.get(what) ?? 0) + step.count)
    if (step.lagMs === undefined) {
      const durationMs = performance.now() - startMs
      return { outcome: 'skipped', durationMs, deleted, lagMs: undefined }
    }
    lagMs = Math.max(lagMs, step.lagMs)
  }
  return { outcome: 'completed', durationMs: performance.now() - startMs, deleted, lagMs }
}

type Step = readonly [what: string, statement: Purge, keptMs: number]

function toSteps({
  linkSeconds,
  cooldownMs,
  revocationsMs,
  auditMs,
}: CleanupAges): readonly Step[] {
  const linkMs = linkSeconds * 1_000
  return [
    // An ended session is kept for a day, because it explains why a refresh fails.
    ['ended sessions', purges.revokedSessions, dayMs],
    ['ended sessions', purges.expiredSessions, dayMs],
    ['one-time tokens', purges.oneTimeTokens, dayMs],
    ['message cooldowns', purges.messageGaps, cooldownMs],
    ['code attempts', purges.codeAttempts, Math.max(dayMs, linkMs)],
    ['challenges', purges.challenges, dayMs],
    ['passkey challenges', purges.webAuthnChallenges, dayMs],
    ['wallet messages', purges.web3Messages, dayMs],
    // Clocks of servers may differ.
    ['DPoP proofs', purges.dpopProofs, 60_000],
    ['unverified factors', purges.factors, dayMs],
    ['flow states', purges.flowStates, Math.max(dayMs, linkMs + codeMs)],
    ['used assertions', purges.samlAssertions, 0],
    // An exchanged code is kept for a day, so that a second use of it is noticed.
    ['OAuth requests', purges.oauthAuthorizations, dayMs],
    ['OAuth clients with a document', purges.describedClients, 30 * dayMs],
    ['given-up messages', purges.failedMessages, 7 * dayMs],
    ...(revocationsMs === undefined
      ? []
      : [['revocations', purges.revocations, revocationsMs] as const]),
    ...(auditMs === undefined ? [] : [['audit entries', purges.auditEntries, auditMs] as const]),
  ]
}

/**
 * @returns no `lagMs` when another process holds the lock. Rows deleted before that are still
 * counted.
 */
async function purge(
  db: Queries,
  statement: Purge,
  beforeMs: number,
): Promise<{ count: number; lagMs?: number }> {
  let count = 0
  for (let batch = 1; ; batch += 1) {
    const [row] = await db.run(statement, { before: new Date(beforeMs) })
    if (!row?.is_held) return { count }
    count += row.count
    if (row.count < purgedAtOnce) return { count, lagMs: 0 }
    // Rows are deleted oldest first, so no remaining row is older than the last one deleted.
    if (batch === mostBatches) return { count, lagMs: beforeMs - Date.parse(row.newest ?? '') }
  }
}

function describeRound({ outcome, durationMs, deleted, lagMs }: CleanupRound): string {
  const rows = [...deleted.values()].reduce((sum, count) => sum + count, 0)
  const parts = [...deleted].map(([what, count]) => `${what}: ${count}`)
  return [
    `Cleanup ${outcome} in ${Math.round(durationMs)} ms: ${toCountText(rows, 'row')} deleted`,
    ...(parts.length > 0 ? [` (${parts.join(', ')})`] : []),
    ...(lagMs === undefined ? [] : [`, ${Math.round(lagMs / 1_000)} s behind`]),
  ].join('')
}
