import { batch, statement } from '../../../db/statement.ts'
import type { Metadata } from '../../../stored-json.ts'
import type { ClientGrant } from '../../../tokens/client-grants.ts'
import { selectUser, type Time, type UserRow } from '../../users/statements/user-row.ts'
import { hasNewer, isWithinLimits, limitParameters, limitsFrom } from './session-limits.ts'

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
  /** Null before the first refresh. */
  readonly refreshed_at: Time | null
  /** When the provider ends the session. */
  readonly not_after: Time | null
  /** Null unless the session belongs to an OAuth client. */
  readonly oauth_client_id: string | null
  readonly oauth_grant: ClientGrant | null
}

/** The columns of a `SessionRow`, without those of the user. */
export function selectSession(session: string): string {
  const s = session
  return `${s}.id as session_id, ${s}.aal, ${s}.amr, ${s}.refresh_token_counter,
     ${s}.created_at as session_created_at, ${s}.refreshed_at, ${s}.not_after, ${s}.oauth_client_id, ${s}.oauth_grant`
}

/**
 * Signs a user in: opens a session, records the time, replaces an outdated hash and writes the
 * audit log. Returns no row and writes nothing when the user does not exist or the password has
 * changed. `newHash`, `tag`, `notAfter` and `shownHash`, the hash that the password was checked
 * against, may be null.
 */
export const openSession = statement(
  'open_session',
  [
    'sessionId',
    'userId',
    'amr',
    'userAgent',
    'ip',
    'isRecovery',
    'newHash',
    'auditId',
    'auditPayload',
    'now',
    'shownHash',
    'tag',
    'notAfter',
  ],
  `with signed_in as (
     -- A concurrent password change or ban locks this row; the conditions are checked again
     -- afterwards.
     update {ns}.users u set last_sign_in_at = $10, updated_at = $10,
       encrypted_password = coalesce($7, u.encrypted_password)
     where u.id = $2 and ($11::text is null or u.encrypted_password = $11)
       and (u.banned_until is null or u.banned_until <= $10)
     returning u.*
   ), opened as (
     insert into {ns}.sessions
       (id, user_id, amr, user_agent, ip, is_recovery, tag, not_after, created_at, updated_at)
     select $1, u.id, $3, $4, $5, $6, $12, $13, $10, $10 from signed_in u
     returning *
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $8, $9, coalesce($5, ''), $10 from signed_in
   )
   select ${selectUser('u')}, ${selectSession('o')}
   from signed_in u cross join opened o`,
).returning<SessionRow>()

export interface RefreshRow extends SessionRow {
  /** The counter of the last token known to have been sent to the client, and the time. */
  readonly delivered_counter: number
  readonly delivered_at: Time | null
  /** The counter at which a second factor raised the session to aal2; null if none did. */
  readonly raised_from: number | null
  readonly revoked_at: Time | null
  readonly has_newer: boolean
}

/**
 * Records that responses with these refresh tokens were sent. Rows are locked in the order of their
 * IDs, as in other statements, to avoid deadlocks.
 */
export const markDelivered = statement(
  'mark_delivered',
  ['sessionIds', 'counters', 'times'],
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

/** Reads a session for a refresh, also to find out why `rotateSession` returned no row. */
export const findRefresh = statement(
  'find_refresh',
  ['sessionId', ...limitParameters],
  `select ${selectUser('u')}, ${selectSession('s')}, s.delivered_counter, s.delivered_at,
     s.raised_from, s.revoked_at, ${hasNewer('s', limitsFrom(2))} as has_newer
   from {ns}.sessions s join {ns}.users u on u.id = s.user_id
   where s.id = $1`,
).returning<RefreshRow>()

/**
 * Revokes the access tokens of the session that a new one replaces, if a user may have only one per tag. The session
 * itself does not end: it can be refreshed again when the new one has ended first. Sessions that were replaced
 * earlier are left out.
 */
export const revokeReplacedTokens = statement(
  'revoke_replaced_tokens',
  ['sessionId', ...limitParameters],
  `select {ns}.revoke_tokens('session', s.id, $2)
   from {ns}.sessions s
   where s.user_id = (select user_id from {ns}.sessions where id = $1) and s.id <> $1
     and s.revoked_at is null and ${hasNewer('s', limitsFrom(2))}
     and not ${hasNewer('s', limitsFrom(2), '$1')}`,
)

export const revokeSessions = statement(
  'revoke_sessions',
  ['sessionIds', 'now'],
  `update {ns}.sessions set revoked_at = $2, updated_at = $2
   where id = any($1) and revoked_at is null`,
)

/**
 * Logs out. The scope is global, local or others. The session is that of the request and may be
 * null.
 */
export const revokeByScope = statement(
  'revoke_by_scope',
  ['userId', 'sessionId', 'scope', 'now', 'auditId', 'auditPayload', 'ip'],
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
 * Returns a row when the session is within its limits and its user may sign in. An OAuth client never
 * has the rights of an administrator who uses it.
 */
export const findActiveSession = statement(
  'find_active_session',
  ['sessionId', ...limitParameters],
  `select 1 from {ns}.sessions s join {ns}.users u on u.id = s.user_id
   where s.id = $1 and s.revoked_at is null and s.oauth_client_id is null
     and ${isWithinLimits('s', limitsFrom(2))}
     and not ${hasNewer('s', limitsFrom(2))}
     and u.deleted_at is null and (u.banned_until is null or u.banned_until <= $2)`,
)

/** The user of an access token. */
export interface CallerRow extends UserRow {
  readonly session_id: string | null
  /** The lower of the levels of token and session. */
  readonly aal: string | null
  readonly is_recovery: boolean | null
  readonly session_revoked_at: string | null
  readonly session_created_at: string | null
  readonly session_refreshed_at: string | null
  readonly session_not_after: string | null
  readonly session_amr: readonly Amr[] | null
  /** Null unless the session belongs to an OAuth client. */
  readonly oauth_client_id: string | null
  readonly oauth_grant: ClientGrant | null
}

/**
 * Finds the user of an access token and its session, which may be null. This one statement runs for
 * every request of a signed-in user.
 */
export const findCaller = statement(
  'find_caller',
  batch(['userId', 'sessionId']),
  // The arrays are subqueries, so that PostgreSQL plans the statement once and not for each length.
  // With `offset 0` it looks up each row by its key: a plan that was made while the tables were small
  // would otherwise scan them, or read all sessions of a user.
  `select token.position, ${selectUser('u')},
     s.id as session_id, s.aal, s.is_recovery, s.revoked_at as session_revoked_at,
     s.created_at as session_created_at, s.refreshed_at as session_refreshed_at,
     s.not_after as session_not_after, s.amr as session_amr, s.oauth_client_id, s.oauth_grant
   from unnest((select $1::uuid[]), (select $2::uuid[]))
       with ordinality as token(user_id, session_id, position)
     cross join lateral (select * from {ns}.users where id = token.user_id offset 0) u
     left join lateral (select * from {ns}.sessions where id = token.session_id offset 0) s
       on s.user_id = u.id`,
).returning<CallerRow>()
