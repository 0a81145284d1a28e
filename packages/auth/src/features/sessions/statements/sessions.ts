import { statement } from '../../../db/statement.ts'
import type { Metadata } from '../../users/metadata.ts'
import { selectUser, type Time, type UserRow } from '../../users/statements/user-row.ts'
import { hasNewer, isWithinLimits } from './session-limits.ts'

export interface Amr extends Metadata {
  readonly method: string
  readonly timestamp: number
}

export interface SessionRow extends UserRow {
  readonly session_id: string
  readonly aal: string
  readonly amr: readonly Amr[]
  readonly refresh_token_counter: number
  readonly session_created_at: Time
}

/** Of a `SessionRow`, besides those of the user. */
export function selectSession(session: string): string {
  const s = session
  return `${s}.id as session_id, ${s}.aal, ${s}.amr, ${s}.refresh_token_counter,
     ${s}.created_at as session_created_at`
}

/**
 * A login: makes a session, marks the time, replaces an outdated hash and writes the audit log. No
 * row: there is no such user, or their password is another one by now; nothing was written.
 * $1 session, $2 user, $3 amr, $4 user agent, $5 ip, $6 is recovery, $7 new hash or null,
 * $8 id and $9 payload of the audit entry, $10 now, $11 the hash that a password was found to fit,
 * or null, $12 tag or null.
 */
export const openSession = statement(
  'open_session',
  `with signed_in as (
     -- Whoever changes the password has this row until they are done; it is looked at again then.
     update {ns}.users u set last_sign_in_at = $10, updated_at = $10,
       encrypted_password = coalesce($7, u.encrypted_password)
     where u.id = $2 and ($11::text is null or u.encrypted_password = $11)
     returning u.*
   ), opened as (
     insert into {ns}.sessions
       (id, user_id, amr, user_agent, ip, is_recovery, tag, created_at, updated_at)
     select $1, u.id, $3, $4, $5, $6, $12, $10, $10 from signed_in u
     returning *
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $8, $9, coalesce($5, ''), $10 from signed_in
   )
   select ${selectUser('u')}, ${selectSession('o')}
   from signed_in u cross join opened o`,
)

/**
 * The common case of a refresh in one statement: the token is the valid one, user and session are
 * fine. Concurrent requests with one token wait here for each other, and all but the first find
 * another counter. No row: \`findRefresh\` tells why.
 * $1 session, $2 counter, $3 user agent, $4 ip, $5 id and $6 action of the audit entry,
 * $7 to $12 SessionLimitValues.
 */
export const rotateSession = statement(
  'rotate_session',
  `with rotated as (
     update {ns}.sessions s set
       refresh_token_counter = s.refresh_token_counter + 1, rotated_at = $7,
       refreshed_at = $7, updated_at = $7, user_agent = $3, ip = $4
     from {ns}.users owner
     where s.id = $1 and s.refresh_token_counter = $2 and s.revoked_at is null
       and owner.id = s.user_id and owner.deleted_at is null
       and (owner.banned_until is null or owner.banned_until <= $7)
       and ${isWithinLimits('s', 7)}
       and not ${hasNewer('s', 7)}
     returning s.*
   ), signed_in as (
     update {ns}.users u set last_sign_in_at = $7 from rotated where u.id = rotated.user_id
     returning u.*
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $5, jsonb_build_object(
       'action', $6::text, 'log_type', 'token', 'actor_id', u.id, 'actor_via_sso', u.is_sso_user,
       'actor_username', coalesce(u.phone, u.email, ''),
       'traits', jsonb_build_object('session_id', r.id)
     ), coalesce($4, ''), $7
     from signed_in u cross join rotated r
   )
   select ${selectUser('u')}, ${selectSession('r')}
   from signed_in u cross join rotated r`,
)

export interface RefreshRow extends SessionRow {
  /** The counter of the token that is known to have reached the client, and when it left. */
  readonly delivered_counter: number
  readonly delivered_at: Time | null
  readonly revoked_at: Time | null
  readonly not_after: Time | null
  readonly refreshed_at: Time | null
  readonly has_newer: boolean
}

/**
 * The answers with these refresh tokens have left. Rows are locked in the order of their ids, as
 * everywhere. $1 sessions, $2 their counters, $3 when.
 */
export const markDelivered = statement(
  'mark_delivered',
  `with sent as materialized (
     select * from unnest($1::uuid[], $2::integer[], $3::timestamptz[]) as m(id, counter, at)
   ), present as materialized (
     select s.id, sent.counter, sent.at from {ns}.sessions s join sent on sent.id = s.id
     where s.refresh_token_counter = sent.counter and s.delivered_counter <> sent.counter
     order by s.id for update of s
   )
   update {ns}.sessions s set delivered_counter = p.counter, delivered_at = p.at
   from present p where s.id = p.id`,
)

/** Why a refresh was not the common case. $1 session, $2 to $7 SessionLimitValues. */
export const findRefresh = statement(
  'find_refresh',
  `select ${selectUser('u')}, ${selectSession('s')}, s.delivered_counter, s.delivered_at,
     s.revoked_at, s.not_after, s.refreshed_at, ${hasNewer('s', 2)} as has_newer
   from {ns}.sessions s join {ns}.users u on u.id = s.user_id
   where s.id = $1`,
)

/** $1 sessions, $2 now. */
export const revokeSessions = statement(
  'revoke_sessions',
  `update {ns}.sessions set revoked_at = $2, updated_at = $2
   where id = any($1) and revoked_at is null`,
)

/**
 * Logout. $1 user, $2 session or null, $3 scope: global, local or others, $4 now,
 * $5 id, $6 payload and $7 ip of the audit entry.
 */
export const revokeByScope = statement(
  'revoke_by_scope',
  `with revoked as (
     update {ns}.sessions set revoked_at = $4, updated_at = $4
     where user_id = $1 and revoked_at is null and case $3::text
       when 'local' then id = $2
       when 'others' then id is distinct from $2
       else true end
   )
   insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
   values ($5, $6, coalesce($7, ''), $4)`,
)

/**
 * Whether a session is within its limits, and of somebody who may come in.
 * $1 session, $2 to $7 SessionLimitValues.
 */
export const findAdminSession = statement(
  'find_admin_session',
  `select 1 from {ns}.sessions s join {ns}.users u on u.id = s.user_id
   where s.id = $1 and s.revoked_at is null and ${isWithinLimits('s', 2)}
     and not ${hasNewer('s', 2)}
     and u.deleted_at is null and (u.banned_until is null or u.banned_until <= $2)`,
)
