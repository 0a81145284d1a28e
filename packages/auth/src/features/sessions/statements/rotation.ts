import { batch, statement } from '../../../db/statement.ts'
import { selectUser } from '../../users/statements/user-row.ts'
import {
  hasNewer,
  isWithinLimits,
  type LimitReferences,
  limitParameters,
  limitsFrom,
} from './session-limits.ts'
import { type SessionRow, selectSession } from './sessions.ts'

/**
 * Whether the session `s` of the user `owner` can be refreshed.
 * @param clientId the OAuth client that presents the token, or null.
 */
function isValid(limits: LimitReferences, clientId: string): string {
  return `s.revoked_at is null and s.oauth_client_id is not distinct from ${clientId} and owner.deleted_at is null
       and (owner.banned_until is null or owner.banned_until <= ${limits.now})
       and ${isWithinLimits('s', limits)}
       and not ${hasNewer('s', limits)}`
}

/** The payload of the audit entry: `u` is the user. */
function toPayload(action: string, sessionId: string): string {
  return `jsonb_build_object(
       'action', ${action}, 'log_type', 'token', 'actor_id', u.id, 'actor_via_sso', u.is_sso_user,
       'actor_username', coalesce(u.phone, u.email, ''),
       'traits', jsonb_build_object('session_id', ${sessionId})
     )`
}

/** Records a refresh of the session in `part`: $4 to $7 are address, audit ID, action and time. */
function recordRefresh(part: string): string {
  return `signed_in as (
     update {ns}.users u set last_sign_in_at = $7 from ${part} where u.id = ${part}.user_id
     returning u.*
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $5, ${toPayload('$6::text', 'r.id')}, coalesce($4, ''), $7
     from signed_in u cross join ${part} r
   )`
}

const rotateParameters = [
  'sessionId',
  'counter',
  'userAgent',
  'ip',
  'auditId',
  'auditAction',
  ...limitParameters,
  'clientId',
] as const

const limitsOfToken: LimitReferences = {
  now: 'token.now',
  earliestCreation: 'token.earliest_creation',
  earliestRefresh: 'token.earliest_refresh',
  earliestLowAalCreation: 'token.earliest_low_aal_creation',
  isSinglePerUser: 'token.is_single_per_user',
  tags: 'token.tags',
}

/**
 * Does the same as `rotateSession` for several tokens, without waiting for a row that another
 * transaction has locked: it would delay all tokens, and two such statements could wait for each
 * other. A token is busy if its session has the right counter but was not rotated: its row was
 * locked, or the session is not valid.
 */
const rotateSessions = statement(
  'rotate_sessions',
  batch(rotateParameters),
  // PostgreSQL expects a tenth of the rows if it does not know the limit. It then looks up every row
  // by its key; a plan that was made while the tables were small would otherwise scan them.
  `with token as materialized (
     select * from unnest(
       (select $1::uuid[]), (select $2::integer[]), (select $3::text[]), (select $4::text[]),
       (select $5::uuid[]), (select $6::text[]), (select $7::timestamptz[]),
       (select $8::timestamptz[]), (select $9::timestamptz[]), (select $10::timestamptz[]),
       (select $11::boolean[]), (select $12::text[]), (select $13::uuid[])
     ) with ordinality as token(session_id, counter, user_agent, ip, audit_id, audit_action, now,
       earliest_creation, earliest_refresh, earliest_low_aal_creation, is_single_per_user, tags,
       client_id, position)
     limit (select cardinality($1::uuid[]))
   ), locked as materialized (
     select token.* from token cross join lateral (
       select from {ns}.sessions s join {ns}.users owner on owner.id = s.user_id
       where s.id = token.session_id and s.refresh_token_counter = token.counter
         and ${isValid(limitsOfToken, 'token.client_id')}
       for no key update of s, owner skip locked
     ) valid
   ), rotated as (
     -- If two tokens are the same, PostgreSQL updates the row for one of them.
     update {ns}.sessions s set
       refresh_token_counter = s.refresh_token_counter + 1, rotated_at = l.now,
       refreshed_at = l.now, updated_at = l.now, user_agent = l.user_agent, ip = l.ip
     from locked l where s.id = l.session_id
     returning s.*, l.position, l.audit_id, l.audit_action
   ), signed_in as (
     update {ns}.users u set last_sign_in_at = seen.at
     from (select user_id, max(refreshed_at) as at from rotated group by user_id) seen
     where u.id = seen.user_id
     returning u.*
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select r.audit_id, ${toPayload('r.audit_action', 'r.id')}, coalesce(r.ip, ''), r.refreshed_at
     from rotated r join signed_in u on u.id = r.user_id
   )
   select token.position, r.id is null as is_busy, ${selectUser('u')}, ${selectSession('r')}
   from token
     left join (rotated r join signed_in u on u.id = r.user_id) on r.position = token.position
   where r.id is not null or (
     not exists (select from rotated other where other.id = token.session_id)
     and token.counter = (
       select s.refresh_token_counter from {ns}.sessions s where s.id = token.session_id)
   )`,
)

/**
 * Handles the common case of a refresh in one statement: the token is valid, and so are user and
 * session. Concurrent requests with the same token wait for each other here, and all but the first
 * find another counter. Returns no row otherwise; `findRefresh` then finds the reason.
 */
export const rotateSession = statement(
  'rotate_session',
  rotateParameters,
  `with rotated as (
     update {ns}.sessions s set
       refresh_token_counter = s.refresh_token_counter + 1, rotated_at = $7,
       refreshed_at = $7, updated_at = $7, user_agent = $3, ip = $4
     from {ns}.users owner
     where s.id = $1 and s.refresh_token_counter = $2 and owner.id = s.user_id
       and ${isValid(limitsFrom(7), '$13::uuid')}
     returning s.*
   ), ${recordRefresh('rotated')}
   select ${selectUser('u')}, ${selectSession('r')}
   from signed_in u cross join rotated r`,
)
  .sharing(rotateSessions)
  .returning<SessionRow>()

/**
 * Records a refresh with the token before a raise to aal2. The counter stays: the token of the raise
 * remains valid, and so does this one until that is used. Returns no row when it has been used.
 */
export const refreshBeforeRaise = statement(
  'refresh_before_raise',
  ['sessionId', 'raisedFrom', 'userAgent', 'ip', 'auditId', 'auditAction', 'now'],
  `with kept as (
     update {ns}.sessions s set refreshed_at = $7, updated_at = $7, user_agent = $3, ip = $4
     where s.id = $1 and s.raised_from = $2 and s.refresh_token_counter = s.raised_from + 2
       and s.revoked_at is null
     returning s.id, s.user_id
   ), ${recordRefresh('kept')}
   select id from kept`,
)
