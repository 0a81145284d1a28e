import { object, statement } from '../../../db/statement.ts'
import {
  noticeColumn,
  partColumns,
  type RequestParts,
  spendMessages,
  type WithNotices,
  writeNotices,
  writeParts,
} from '../../../messages/statements/request-parts.ts'
import type { Metadata } from '../../../stored-json.ts'
import type { NewIdentity } from '../../user-changes/statements/create-user.ts'
import { selectUser, selectUserWith, type UserRow } from '../../users/statements/user-row.ts'

/** A user to whom a profile may belong. */
export interface CandidateRow extends UserRow {
  /** Whether the user has this identity. */
  readonly has_identity: boolean
  /** Whether the user has one of the addresses that the provider has verified. */
  readonly has_verified_email: boolean
  /** Whether the user has an identity with such an address that its provider has verified too. */
  readonly has_verified_identity: boolean
}

/** `id` is the user's ID at the provider. `mainEmail` may be null. */
export const findCandidates = statement(
  'find_candidates',
  ['provider', 'id', 'verifiedEmails', 'mainEmail'],
  `with same as materialized (
     select user_id from {ns}.identities where provider = $1 and provider_id = $2
   ), alike as materialized (
     select distinct user_id from {ns}.identities
     where email = any($3::text[]) and identity_data @> '{"email_verified": true}'
       and provider not like 'sso:%'
   ), named as materialized (
     select id as user_id from {ns}.users
     where not is_sso_user and email = any(array_append($3::text[], $4::text))
   )
   select ${selectUser('u')},
     u.id in (select user_id from same) as has_identity,
     coalesce(u.email = any($3::text[]) and not u.is_sso_user, false) as has_verified_email,
     u.id in (select user_id from alike) as has_verified_identity
   from (table same union table alike union table named) found
     join {ns}.users u on u.id = found.user_id
   where u.deleted_at is null
   order by u.created_at, u.id`,
).returning<CandidateRow>()

/** Finds the invited user by the hash of the link, in hexadecimal. */
export const findInvitedUser = statement(
  'find_invited_user',
  ['tokenHash', 'now'],
  `select ${selectUser('u')}
   from {ns}.one_time_tokens t join {ns}.users u on u.id = t.user_id
   where t.token_hash = decode($1, 'hex') and t.token_type = 'confirmation'
     and t.expires_at >= $2 and u.deleted_at is null`,
).returning<UserRow>()

/** The providers of the identities in `present`, the first one first. */
const provided = `provided as materialized (
     select jsonb_build_object(
       'provider', (array_agg(n.provider order by n.since, n.provider))[1],
       'providers', jsonb_agg(n.provider order by n.since, n.provider)) as app_meta_data
     from (select provider, min(created_at) as since from present group by provider) n
   )`

/** What a profile changes in an existing user. */
export interface ExternalChange extends RequestParts, WithNotices {
  readonly user_id: string
  /** Inserted or updated. */
  readonly identity: NewIdentity
  /** Merged unless the user's metadata would become too large. */
  readonly user_metadata: Metadata
  /** Whether the user's own metadata takes precedence, so that only absent keys are added. */
  readonly keeps_metadata: boolean
  /** In bytes of PostgreSQL's text format. */
  readonly most_user_metadata: number
  /**
   * Set when the address of the account was never confirmed, so that someone else may have created
   * the account. Removes the password, phone number, metadata, other identities, factors, passkeys,
   * sessions and pending codes. Metadata that an administrator set stays.
   */
  readonly takes_over: boolean
  /** The new address; null when it does not change. */
  readonly email: string | null
  readonly confirms: boolean
  /** The new address that must be confirmed first; null when there is none. */
  readonly email_change: string | null
}

/**
 * Returns no row and writes nothing when the user does not exist or was confirmed in the meantime,
 * when the identity belongs to another user, or when the message limit is reached. An address that
 * is taken violates `users_email`.
 */
export const changeExternally = statement(
  'change_externally',
  object<ExternalChange>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(user_id uuid, identity jsonb,
       user_metadata jsonb, keeps_metadata boolean, most_user_metadata int, takes_over boolean,
       email text, confirms boolean, email_change text, ${noticeColumn}, ${partColumns})
   ), ending as materialized (
     -- Locks sessions before the user, in the same order as a token refresh, to avoid deadlocks.
     select s.id from {ns}.sessions s cross join p
     where s.user_id = p.user_id and s.revoked_at is null and p.takes_over
     order by s.id for update of s
   ), due as materialized (
     select u.id from {ns}.users u cross join p
     where u.id = p.user_id and u.deleted_at is null and (select count(*) from ending) >= 0
       and (u.email_confirmed_at is null or not p.takes_over)
     for update of u
   ), ${spendMessages('exists (select from due)')}, identified as (
     insert into {ns}.identities as i (id, user_id, provider, provider_id, identity_data,
       last_sign_in_at, created_at, updated_at)
     select n.id, due.id, n.provider, n.provider_id, n.identity_data, p.now, p.now, p.now
     from due cross join cap cross join p cross join jsonb_to_record(p.identity) as n(id uuid,
       provider text, provider_id text, identity_data jsonb)
     on conflict (provider, provider_id) do update set updated_at = excluded.updated_at,
       last_sign_in_at = excluded.last_sign_in_at, identity_data = excluded.identity_data
       where i.user_id = excluded.user_id
     returning i.*
   ), removed as (
     delete from {ns}.identities i using identified n cross join p
     where i.user_id = n.user_id and p.takes_over
       and (i.provider, i.provider_id) <> (n.provider, n.provider_id)
     returning i.id
   ), present as materialized (
     select * from identified union all
     select i.* from {ns}.identities i join identified n on n.user_id = i.user_id
     where (i.provider, i.provider_id) <> (n.provider, n.provider_id)
       and i.id not in (select id from removed)
   ), ${provided}, changed as (
     update {ns}.users u set
       email = coalesce(p.email, u.email),
       email_confirmed_at = case when p.confirms then coalesce(u.email_confirmed_at, p.now)
         when p.email is null then u.email_confirmed_at end,
       is_anonymous = false,
       encrypted_password = case when p.takes_over then null else u.encrypted_password end,
       phone = case when p.takes_over then null else u.phone end,
       phone_confirmed_at = case when p.takes_over then null else u.phone_confirmed_at end,
       phone_change = case when p.takes_over then null else u.phone_change end,
       phone_change_sent_at = case when p.takes_over then null else u.phone_change_sent_at end,
       email_change = case when p.takes_over then null
         else coalesce(p.email_change, u.email_change) end,
       email_change_sent_at = case when p.takes_over then null
         when p.email_change is not null then p.now else u.email_change_sent_at end,
       email_change_confirm_status = case when p.takes_over or p.email_change is not null then 0
         else u.email_change_confirm_status end,
       raw_user_meta_data = (
         select case when octet_length(m.merged::text) <= p.most_user_metadata
           then m.merged else b.kept end
         from (select case when p.takes_over then coalesce(u.admin_data -> 'user_metadata', '{}')
           else u.raw_user_meta_data end as kept) b cross join lateral (
           select case when p.keeps_metadata then p.user_metadata || b.kept
             else b.kept || p.user_metadata end as merged) m),
       admin_data = case when p.confirms then null else u.admin_data end,
       raw_app_meta_data = u.raw_app_meta_data || v.app_meta_data,
       updated_at = p.now
     from identified n cross join p cross join provided v
     where u.id = n.user_id
     returning u.*
   ), cleared as (
     delete from {ns}.one_time_tokens t using changed u cross join p
     where t.user_id = u.id and (p.takes_over or p.email is not null)
       and not coalesce(p.token @> jsonb_build_object('token_type', t.token_type), false)
   ), unfactored as (
     delete from {ns}.mfa_factors f using changed u cross join p
     where f.user_id = u.id and p.takes_over
   ), passkeys_gone as (
     delete from {ns}.webauthn_credentials k using changed u cross join p
     where k.user_id = u.id and p.takes_over
   ), api_keys_gone as (
     delete from {ns}.api_keys k using changed u cross join p
     where k.user_id = u.id and p.takes_over
   ), consents_gone as (
     delete from {ns}.oauth_consents g using changed u cross join p
     where g.user_id = u.id and p.takes_over
   ), ended as (
     update {ns}.sessions s set revoked_at = p.now, updated_at = p.now
     from changed cross join p cross join ending e
     where s.id = e.id
   ), ${writeNotices('changed u cross join p')}, ${writeParts('changed')}
   select ${selectUserWith('u', 'present')} from changed u`,
).returning<UserRow>()

/** What unlinking an identity changes in its user. */
export interface Unlinking extends WithNotices {
  readonly user_id: string
  readonly identity_id: string
  readonly now: Date
  readonly ip: string
  readonly audit_id: string
  readonly audit_payload: Metadata
}

/**
 * Unlinking the identity `phone` removes the phone number of the account; the address never
 * changes. Returns no row when the identity does not exist, is the last one, or is the only one
 * with the address of the account. The identities are locked, so that two concurrent requests
 * cannot remove the last two.
 */
export const unlinkIdentity = statement(
  'unlink_identity',
  object<Unlinking>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(user_id uuid, identity_id uuid, now timestamptz,
       ip text, audit_id uuid, audit_payload jsonb, ${noticeColumn})
   ), owner as materialized (
     select u.id, u.email from {ns}.users u cross join p
     where u.id = p.user_id and u.deleted_at is null
     for update of u
   ), locked as materialized (
     select i.id, coalesce(i.email = o.email and i.provider <> 'phone', false) as has_address
     from {ns}.identities i join owner o on o.id = i.user_id
     order by i.id for update of i
   ), gone as (
     delete from {ns}.identities i using locked l cross join p
     where i.id = l.id and i.id = p.identity_id and (select count(*) from locked) > 1
       and (not l.has_address
         or exists (select from locked other where other.has_address and other.id <> l.id))
     returning i.id, i.provider
   ), present as materialized (
     select i.* from {ns}.identities i join locked l on l.id = i.id
     where i.id not in (select id from gone)
   ), ${provided}, changed as (
     update {ns}.users u set
       phone = case when gone.provider = 'phone' then null else u.phone end,
       phone_confirmed_at =
         case when gone.provider = 'phone' then null else u.phone_confirmed_at end,
       raw_app_meta_data = u.raw_app_meta_data || v.app_meta_data,
       updated_at = p.now
     from gone cross join p cross join provided v
     where u.id = p.user_id
     returning u.*
   ), cleared as (
     delete from {ns}.one_time_tokens t using changed u cross join gone
     where t.user_id = u.id and gone.provider = 'phone'
   ), logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select p.audit_id, p.audit_payload, p.ip, p.now from changed cross join p
   ), ${writeNotices('changed u cross join p')}
   select id from changed`,
)
