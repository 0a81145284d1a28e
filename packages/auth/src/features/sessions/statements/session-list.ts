import type { Row } from '../../../db/database.ts'
import { statement } from '../../../db/statement.ts'
import type { Time } from '../../users/statements/user-row.ts'
import { hasNewer, isWithinLimits, limitParameters, limitsFrom } from './session-limits.ts'
import type { Amr } from './sessions.ts'

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

/** The sessions of a user that could be refreshed, most recently used first. */
export const listSessions = statement(
  'list_sessions',
  ['userId', ...limitParameters],
  `select s.id, s.aal, s.amr, s.user_agent, s.ip, s.tag, s.not_after, s.refreshed_at, s.created_at
   from {ns}.sessions s
   where s.user_id = $1 and s.revoked_at is null and ${isWithinLimits('s', limitsFrom(2))}
     and not ${hasNewer('s', limitsFrom(2))}
   order by coalesce(s.refreshed_at, s.created_at) desc, s.id
   limit 1000`,
).returning<ListedSession>()

/** Ends one session of a user. Returns no row when the user has no such session. */
export const endSession = statement(
  'end_session',
  ['userId', 'sessionId', 'now', 'auditId', 'auditPayload', 'ip'],
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

/**
 * Ends the next sessions of all users, ordered by ID, starting after the given one, which may be
 * null. `last` is the ID after which to continue; null when there are no more. Writes an audit
 * entry if any session was ended.
 */
export const endManySessions = statement(
  'end_many_sessions',
  ['after', 'most', 'createdBefore', 'now', 'auditId', 'auditPayload', 'ip'],
  `with settings as materialized (
     select set_config('portcullis.revocations', 'together', true) as recorded
   ), next as materialized (
     select s.id, s.revoked_at is null and s.created_at <= $3 as is_due
     from {ns}.sessions s cross join settings
     where ($1::uuid is null or s.id > $1) and settings.recorded = 'together'
     order by s.id limit $2
   ), ended as (
     update {ns}.sessions s set revoked_at = $4, updated_at = $4
     from next n where s.id = n.id and n.is_due and s.revoked_at is null
     returning s.id
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select $5, jsonb_set($6::jsonb, '{traits,count}', to_jsonb(count(*))), coalesce($7, ''), $4
     from ended having count(*) > 0
   ), told as materialized (
     select {ns}.revoke_tokens('everyone', null, $3) from ended having count(*) > 0
   )
   select (select count(*) from told) as told, (select count(*) from ended)::integer as count,
     case when (select count(*) from next) = $2 then (select max(id::text) from next) end as last`,
).returning<{ readonly count: number; readonly last: string | null }>()

export interface AddressRow extends Row {
  readonly ip: string
}

/**
 * The IP addresses of the latest sessions of an account. `name` is its email address or phone
 * number.
 */
export const findSessionAddresses = statement(
  'find_session_addresses',
  ['name', 'audience'],
  `select distinct s.ip from (
     select s.ip from (
       select id from {ns}.users
       where email = $1 and aud = $2 and not is_sso_user and deleted_at is null
       union
       select id from {ns}.users where phone = $1 and aud = $2 and deleted_at is null
     ) u join {ns}.sessions s on s.user_id = u.id
     order by s.created_at desc limit 100
   ) s where s.ip is not null`,
).returning<AddressRow>()
