import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { type AuditEntry, toAdminEntry } from '../audit/audit.ts'
import { endManySessions, endSession } from './statements/session-list.ts'
import { revokeByScope } from './statements/sessions.ts'

export interface Logout {
  readonly userId: string
  /** The session that asks; null: none does. */
  readonly sessionId: string | null
  /** All sessions of the user, that one, or all others. */
  readonly scope: 'global' | 'local' | 'others'
  readonly entry: AuditEntry
  readonly ip: string
}

export async function logOut(
  { db, now }: Pick<Services, 'db' | 'now'>,
  { entry, ...logout }: Logout,
): Promise<void> {
  await db.run(revokeByScope, {
    ...logout,
    now: new Date(now()),
    auditId: entry.id,
    auditPayload: entry.payload,
  })
}

export interface SessionEnd {
  readonly userId: string
  readonly sessionId: string
  readonly entry: AuditEntry
  readonly ip: string
}

/** @throws {ApiError} */
export async function closeSession(
  { db, now }: Pick<Services, 'db' | 'now'>,
  end: SessionEnd,
): Promise<void> {
  const { userId, sessionId, entry, ip } = end
  const [ended] = await db.run(endSession, {
    userId,
    sessionId,
    now: new Date(now()),
    auditId: entry.id,
    auditPayload: entry.payload,
    ip,
  })
  if (ended === undefined) {
    throw new ApiError('session_not_found', 'Session not found', { status: 404 })
  }
}

export interface MassRevocation {
  /** Sessions that were opened later stay. */
  readonly beforeMs: number
  /** Where to go on; undefined: at the beginning. */
  readonly after: string | undefined
  readonly adminRole: string
  readonly ip: string
}

export interface Revoked {
  readonly count: number
  /** Where the next call goes on; undefined: all are revoked. */
  readonly after: string | undefined
}

const atOnce = 2_000

/** Revokes sessions of all users, for so long as `hasTime`. A batch takes locks for milliseconds. */
export async function revokeAllSessions(
  { db, now }: Pick<Services, 'db' | 'now'>,
  { beforeMs, after: start, adminRole, ip }: MassRevocation,
  hasTime: () => boolean,
): Promise<Revoked> {
  const before = new Date(beforeMs)
  let after = start
  let count = 0
  do {
    const entry: AuditEntry = toAdminEntry('token_revoked', adminRole, {
      reason: 'all_sessions_revoked',
      created_before: before.toISOString(),
    })
    const [row] = await db.run(endManySessions, {
      after: after ?? null,
      most: atOnce,
      createdBefore: before,
      now: new Date(now()),
      auditId: entry.id,
      auditPayload: entry.payload,
      ip,
    })
    count += row?.count ?? 0
    after = row?.last ?? undefined
  } while (after !== undefined && hasTime())
  return { count, after }
}
