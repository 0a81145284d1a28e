import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { AuditEntry } from '../audit/audit.ts'
import type { Json } from '../users/metadata.ts'
import { toDeviceName } from './device-name.ts'
import { toLimitValues } from './session-limits.ts'
import { endSession, type ListedSession, listSessions } from './statements/session-list.ts'

export type SessionRecord = Readonly<Record<string, Json>>

/** Where a user is signed in. @param currentId the session that asks, if one does. */
export async function findSessions(
  { db, now, config }: Services,
  userId: string,
  currentId: string | null,
): Promise<readonly SessionRecord[]> {
  const limits = toLimitValues(config.tokens.sessions, now())
  const rows = await db.run<ListedSession>(listSessions, [userId, ...limits])
  return rows.map((row) => toSessionRecord(row, currentId))
}

function toSessionRecord(row: ListedSession, currentId: string | null): SessionRecord {
  return {
    id: row.id,
    is_current: row.id === currentId,
    device: toDeviceName(row.user_agent ?? ''),
    user_agent: row.user_agent ?? '',
    ip: row.ip ?? '',
    aal: row.aal,
    amr: row.amr,
    created_at: row.created_at,
    last_used_at: row.refreshed_at ?? row.created_at,
    ...(row.tag !== null && { tag: row.tag }),
    ...(row.not_after !== null && { not_after: row.not_after }),
  }
}

export interface SessionEnd {
  readonly userId: string
  readonly sessionId: string
  readonly entry: AuditEntry
  readonly ip: string
}

/** @throws {ApiError} */
export async function closeSession({ db, now }: Services, end: SessionEnd): Promise<void> {
  const { userId, sessionId, entry, ip } = end
  const [ended] = await db.run(endSession, [
    userId,
    sessionId,
    new Date(now()),
    entry.id,
    entry.payload,
    ip,
  ])
  if (ended === undefined) {
    throw new ApiError('session_not_found', 'Session not found', { status: 404 })
  }
}
