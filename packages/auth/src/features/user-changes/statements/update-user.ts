import { object, statement } from '../../../db/statement.ts'
import {
  noticeColumn,
  partColumns,
  permitMessages,
  type RequestParts,
  type WithNotices,
  writeNotices,
  writeParts,
} from '../../../messages/statements/request-parts.ts'
import type { Metadata } from '../../../stored-json.ts'
import type { OneTimeTokenType } from '../../../tokens/one-time-tokens.ts'
import { selectUserWith, type UserRow } from '../../users/statements/user-row.ts'
import type { NewIdentity } from './create-user.ts'

/** The changes of a user; null leaves a column unchanged. */
export interface UserChange extends RequestParts, WithNotices {
  readonly user_id: string
  /**
   * Whether an administrator makes the change: it is then kept when the user first confirms the
   * account.
   */
  readonly by_admin: boolean
  readonly role: string | null
  /** Applied immediately, without confirmation. */
  readonly email: string | null
  readonly email_confirmed_at: Date | null
  readonly phone: string | null
  readonly phone_confirmed_at: Date | null
  readonly encrypted_password: string | null
  /** Keys replace existing ones; a key that is null is removed. */
  readonly user_metadata: Metadata | null
  readonly app_metadata: Metadata | null
  /**
   * In bytes of PostgreSQL's text format; null: no limit. Metadata that is already larger may
   * shrink.
   */
  readonly most_user_metadata: number | null
  readonly most_app_metadata: number | null
  /** Copies of identity data. Only keys that the user's metadata already has are written. */
  readonly copied_metadata: Metadata | null
  readonly is_anonymous: boolean | null
  readonly changes_ban: boolean
  readonly banned_until: Date | null
  readonly invited_at: Date | null
  readonly confirmation_sent_at: Date | null
  readonly recovery_sent_at: Date | null
  /** The address that must be confirmed. */
  readonly email_change: string | null
  /**
   * Whether an earlier confirmation by one address is discarded even if the new address is the
   * same.
   */
  readonly restarts_email_change: boolean
  /** Minimum interval since the previous request; null when there is none. */
  readonly email_change_gap_seconds: number | null
  /** The phone number that must be confirmed. */
  readonly phone_change: string | null
  readonly phone_change_gap_seconds: number | null
  /** Inserted, or merged into an identity of the same provider. */
  readonly identities: readonly NewIdentity[]
  /** Merged into an existing identity of the same provider. Must not overlap with `identities`. */
  readonly identity_patches: readonly IdentityPatch[]
  /** Must not contain types that are written. */
  readonly cleared_tokens: readonly OneTimeTokenType[]
  readonly ended_sessions: 'all' | 'others' | null
  /** The session that is kept when others end. */
  readonly session_id: string | null
  /** Hashes of the required reauthentication code, in hexadecimal; null when none is required. */
  readonly nonce_hashes: readonly string[] | null
  /**
   * The hash that the current password was checked against. If it has changed, nothing is written.
   */
  readonly shown_hash: string | null
}

export interface IdentityPatch {
  readonly provider: string
  readonly identity_data: Metadata
}

/** Merges shallowly inside the statement, so that two concurrent changes both take effect. */
function merge(before: string, change: string): string {
  return `((${before} || coalesce(${change}, '{}')) - array(
       select key from jsonb_each(coalesce(${change}, '{}')) where value = 'null'))`
}

/** The same rule as in `checkMetadataSize`, for concurrent changes. */
function staysSmall(before: string, change: string, most: string): string {
  return `(${most} is null or octet_length(${merge(before, change)}::text)
         <= greatest(${most}, octet_length(${before}::text)))`
}

/** Merges metadata into what the administrator has set so far. */
function addAdminData(before: string, metadata: string): string {
  return `coalesce(${before}, '{}') || jsonb_build_object('user_metadata',
           ${merge(`coalesce(${before} -> 'user_metadata', '{}')`, metadata)})`
}

/** The first provider and the list of all providers, ordered by time. */
const providers = `(
       select jsonb_build_object('provider', list -> 0, 'providers', list) from (
         select jsonb_agg(provider order by since, provider) as list from (
           select provider, min(since) as since from (
             select i.provider, i.created_at as since from {ns}.identities i where i.user_id = u.id
             union all
             select n.provider, p.now from jsonb_to_recordset(p.identities) as n(provider text)
           ) every group by provider
         ) one_each
       ) listed
     )`

/**
 * Applies all changes of one request to a user. Returns no row and writes nothing when the user
 * does not exist, the code is wrong, the metadata would become too large, the previous request is
 * too recent, the password has changed since it was checked, or a limit for messages is reached. An
 * address or phone number that is taken violates `users_email` or `users_phone`.
 */
export const updateUser = statement(
  'update_user',
  object<UserChange>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(user_id uuid, by_admin boolean, role text, email text,
       email_confirmed_at timestamptz, phone text, phone_confirmed_at timestamptz,
       encrypted_password text, user_metadata jsonb, app_metadata jsonb, copied_metadata jsonb,
       most_user_metadata int, most_app_metadata int,
       is_anonymous boolean, changes_ban boolean, banned_until timestamptz,
       invited_at timestamptz, confirmation_sent_at timestamptz, recovery_sent_at timestamptz,
       email_change text, restarts_email_change boolean, email_change_gap_seconds double precision,
       phone_change text, phone_change_gap_seconds double precision,
       identities jsonb, identity_patches jsonb, cleared_tokens text[], ended_sessions text,
       session_id uuid, nonce_hashes text[], shown_hash text,
       ${noticeColumn}, ${partColumns})
   ), ending as materialized (
     -- Locks sessions before the user, in the same order as a token refresh, to avoid deadlocks.
     select s.id from {ns}.sessions s cross join p
     where s.user_id = p.user_id and s.revoked_at is null and case p.ended_sessions
       when 'all' then true when 'others' then s.id is distinct from p.session_id else false end
     order by s.id for update of s
   ), nonce as materialized (
     select t.user_id from {ns}.one_time_tokens t cross join p
     where t.user_id = p.user_id and t.token_type = 'reauthentication'
       and encode(t.otp_hash, 'hex') = any(p.nonce_hashes) and t.expires_at > p.now
     for update of t
   ), due as materialized (
     select u.id from {ns}.users u cross join p
     where u.id = p.user_id and u.deleted_at is null and (select count(*) from ending) >= 0
       and (p.nonce_hashes is null or exists (select from nonce))
       and (p.shown_hash is null or u.encrypted_password = p.shown_hash)
       and ${staysSmall('u.raw_user_meta_data', 'p.user_metadata', 'p.most_user_metadata')}
       and ${staysSmall('u.raw_app_meta_data', 'p.app_metadata', 'p.most_app_metadata')}
       and (nullif(p.email_change_gap_seconds, 0) is null or u.email_change_sent_at is null
         or u.email_change_sent_at <= p.now - make_interval(secs => p.email_change_gap_seconds))
       and (nullif(p.phone_change_gap_seconds, 0) is null or u.phone_change_sent_at is null
         or u.phone_change_sent_at <= p.now - make_interval(secs => p.phone_change_gap_seconds))
     for update of u
   ), ${permitMessages('exists (select from due)')}, updated as (
     update {ns}.users u set
       role = coalesce(p.role, u.role),
       email = coalesce(p.email, u.email),
       email_confirmed_at = coalesce(p.email_confirmed_at, u.email_confirmed_at),
       phone = coalesce(p.phone, u.phone),
       phone_confirmed_at = coalesce(p.phone_confirmed_at, u.phone_confirmed_at),
       encrypted_password = coalesce(p.encrypted_password, u.encrypted_password),
       raw_user_meta_data = ${merge('u.raw_user_meta_data', 'p.user_metadata')} || coalesce((
         select jsonb_object_agg(key, value) from jsonb_each(p.copied_metadata)
         where u.raw_user_meta_data ? key
           or key = 'email_verified' and p.email_confirmed_at is not null), '{}'),
       raw_app_meta_data = ${merge('u.raw_app_meta_data', 'p.app_metadata')}
         || case when jsonb_array_length(p.identities) > 0 then ${providers} else '{}' end,
       admin_data = case when p.by_admin and u.email_confirmed_at is null
           and u.phone_confirmed_at is null
         then ${addAdminData('u.admin_data', 'p.user_metadata')}
           || case when p.encrypted_password is null then '{}'::jsonb else '{"password": true}' end
         else u.admin_data end,
       is_anonymous = coalesce(p.is_anonymous, u.is_anonymous),
       banned_until = case when p.changes_ban then p.banned_until else u.banned_until end,
       invited_at = coalesce(p.invited_at, u.invited_at),
       confirmation_sent_at = coalesce(p.confirmation_sent_at, u.confirmation_sent_at),
       recovery_sent_at = coalesce(p.recovery_sent_at, u.recovery_sent_at),
       email_change = case when p.email is null then coalesce(p.email_change, u.email_change) end,
       email_change_sent_at = case when p.email is not null then null
         when p.email_change is not null then p.now else u.email_change_sent_at end,
       email_change_confirm_status = case when p.email is not null or p.restarts_email_change
         or p.email_change <> u.email_change then 0 else u.email_change_confirm_status end,
       phone_change = case when p.phone is null then coalesce(p.phone_change, u.phone_change) end,
       phone_change_sent_at = case when p.phone is not null then null
         when p.phone_change is not null then p.now else u.phone_change_sent_at end,
       updated_at = p.now
     from due cross join p cross join permit
     where u.id = due.id
     returning u.*
   ), identified as (
     insert into {ns}.identities as i (id, user_id, provider, provider_id, identity_data,
       last_sign_in_at, created_at, updated_at)
     select n.id, u.id, n.provider, n.provider_id, n.identity_data, p.now, p.now, p.now
     from updated u cross join p cross join jsonb_to_recordset(p.identities) as n(id uuid,
       provider text, provider_id text, identity_data jsonb)
     on conflict (provider, provider_id) do update set updated_at = excluded.updated_at,
       identity_data = i.identity_data || excluded.identity_data
     returning i.*
   ), patched as (
     update {ns}.identities i set identity_data = i.identity_data || n.identity_data,
       updated_at = p.now
     from updated u cross join p cross join jsonb_to_recordset(p.identity_patches) as n(
       provider text, identity_data jsonb)
     where i.user_id = u.id and i.provider = n.provider
     returning i.*
   ), cleared as (
     delete from {ns}.one_time_tokens t using updated u cross join p
     where t.user_id = u.id and t.token_type = any(p.cleared_tokens)
   ), ended as (
     update {ns}.sessions s set revoked_at = p.now, updated_at = p.now
     from updated u cross join p cross join ending e
     where s.id = e.id
   ), changed as (
     select * from identified union all select * from patched
   ), present as (
     select * from changed union all
     select i.* from {ns}.identities i join updated u on u.id = i.user_id
     where i.id not in (select id from changed)
   ), ${writeNotices('updated u cross join p')}, ${writeParts('updated')}
   select ${selectUserWith('u', 'present')} from updated u`,
).returning<UserRow>()

/**
 * Ends sessions that were opened while `updateUser` waited for the lock of the user; its snapshot
 * does not contain them. Must run in the same transaction, which keeps other sessions from being
 * opened. The session that is kept may be null.
 */
export const endSessionsMeanwhile = statement(
  'end_sessions_meanwhile',
  ['userId', 'keptSessionId', 'now'],
  `update {ns}.sessions set revoked_at = $3, updated_at = $3
   where user_id = $1 and revoked_at is null and id is distinct from $2`,
)

export interface UpdateCheck {
  readonly user_id: string
  readonly email: string | null
  readonly phone: string | null
  readonly nonce_hashes: readonly string[] | null
  readonly most_attempts: number
  readonly now: Date
}

export interface UpdateVerdict {
  readonly [column: string]: unknown
  readonly is_email_taken: boolean
  readonly is_phone_taken: boolean
  readonly is_nonce_right: boolean
}

/**
 * Checks whether a change is allowed. Each check of the code counts as an attempt, and concurrent
 * guesses wait for each other here.
 */
export const checkUserUpdate = statement(
  'check_user_update',
  object<UpdateCheck>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(user_id uuid, email text, phone text,
       nonce_hashes text[], most_attempts integer, now timestamptz)
   ), tried as (
     update {ns}.one_time_tokens t set attempts = t.attempts + 1
     from p where p.nonce_hashes is not null and t.user_id = p.user_id
       and t.token_type = 'reauthentication' and t.attempts < p.most_attempts
       and t.expires_at > p.now
     returning encode(t.otp_hash, 'hex') = any(p.nonce_hashes) as is_right
   )
   select
     exists (select from {ns}.users u where u.email = p.email and not u.is_sso_user
       and u.id <> p.user_id) as is_email_taken,
     exists (select from {ns}.users u where u.phone = p.phone and u.id <> p.user_id)
       as is_phone_taken,
     exists (select from tried where is_right) as is_nonce_right
   from p`,
).returning<UpdateVerdict>()
