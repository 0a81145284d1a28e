import type { Services } from '../../services.ts'
import { type AuditEntry, toAdminEntry } from '../audit/audit.ts'
import { endManySessions } from './statements/session-list.ts'

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
    const values = [after ?? null, atOnce, before, new Date(now()), entry.id, entry.payload, ip]
    const [row] = await db.run<{ count: number; last: string | null }>(endManySessions, values)
    count += row?.count ?? 0
    after = row?.last ?? undefined
  } while (after !== undefined && hasTime())
  return { count, after }
}
