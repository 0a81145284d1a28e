import type { Row } from './database.ts'
import { hasNewer, isWithinLimits } from './session-limits.ts'
import type { Amr } from './sessions.ts'
import { statement } from './statement.ts'
import type { Time } from './user-row.ts'

export interface ListedSession extends Row {
  readonly id: string
  readonly aal: string
  readonly amr: readonly Amr[]
  readonly user_agent: string | null
  readonly ip: string | null
  readonly tag: string | null
  readonly not_after: Time | null
  readonly refreshed_at: Time | null
  readonly created_at: Time
}

/**
 * The sessions of a user that a refresh would keep alive, the last used first.
 * $1 user, $2 to $7 SessionLimitValues.
 */
export const listSessions = statement(
  'list_sessions',
  `select s.id, s.aal, s.amr, s.user_agent, s.ip, s.tag, s.not_after, s.refreshed_at, s.created_at
   from {ns}.sessions s
   where s.user_id = $1 and s.revoked_at is null and ${isWithinLimits('s', 2)}
     and not ${hasNewer('s', 2)}
   order by coalesce(s.refreshed_at, s.created_at) desc, s.id
   limit 1000`,
)

/**
 * Ends one session of a user; no row where they have no such session.
 * $1 user, $2 session, $3 now, $4 id, $5 payload and $6 ip of the audit entry.
 */
export const endSession = statement(
  'end_session',
  `with ended as (
     update {ns}.sessions set revoked_at = $3, updated_at = $3
     where id = $2 and user_id = $1 and revoked_at is null
     returning id
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $4, $5, coalesce($6, ''), $3 from ended
   )
   select id from ended`,
)
