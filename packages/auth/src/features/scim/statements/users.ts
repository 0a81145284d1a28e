import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import type { Metadata } from '../../../stored-json.ts'
import { type AdminAction } from '../../audit/admin-action.ts'
import { actionColumns, logAction } from '../../audit/statements.ts'
import type { Time } from '../../users/statements/user-row.ts'

export interface ScimUserRow extends Row {
  readonly user_id: string
  readonly user_name: string
  readonly external_id: string | null
  readonly active: boolean
  readonly attributes: Metadata
  readonly created_at: Time
  readonly updated_at: Time
  readonly deleted_at: Time | null
  readonly groups: readonly { readonly value: string; readonly display: string }[]
}

const columns = `s.user_id, s.user_name, s.external_id, s.active, s.attributes, s.created_at,
  s.updated_at, s.deleted_at, coalesce((
    select json_agg(json_build_object('value', g.id, 'display', g.display_name) order by g.id)
    from {ns}.scim_members m join {ns}.scim_groups g on g.id = m.group_id
    where m.user_id = s.user_id), '[]') as groups`

/** How long a deprovisioned user is banned. A ban by an administrator ends at another time. */
const forever = `timestamptz '9999-12-31T00:00:00Z'`

export const findScimUser = statement(
  'find_scim_user',
  ['providerId', 'id'],
  `select ${columns} from {ns}.scim_users s
   where s.sso_provider_id = $1 and s.user_id = $2 and s.deleted_at is null`,
).returning<ScimUserRow>()

/** Also finds a deleted user. The name is compared without regard to case. */
export const findScimUserByName = statement(
  'find_scim_user_by_name',
  ['providerId', 'userName'],
  `select ${columns} from {ns}.scim_users s
   where s.sso_provider_id = $1 and lower(s.user_name) = lower($2)`,
).returning<ScimUserRow>()

/**
 * A page of the users of a provider in the order of their creation, with the total. `userName` and
 * `externalId` may be null. An empty page has one row, with the total and no user.
 */
export const listScimUsers = statement(
  'list_scim_users',
  ['providerId', 'userName', 'externalId', 'limit', 'offset'],
  `with matching as materialized (
     select s.user_id, s.created_at from {ns}.scim_users s
     where s.sso_provider_id = $1 and s.deleted_at is null
       and ($2::text is null or lower(s.user_name) = lower($2))
       and ($3::text is null or s.external_id = $3)
   )
   select all_users.total, page.*
   from (select count(*)::integer as total from matching) all_users
   left join (
     select ${columns} from matching w join {ns}.scim_users s on s.user_id = w.user_id
     order by s.created_at, s.user_id limit $4 offset $5
   ) page on true
   order by page.created_at, page.user_id`,
).returning<{ readonly total: number } & (ScimUserRow | { readonly user_id: null })>()

/**
 * A user who has signed in with the provider before it was provisioned. The name is compared without
 * regard to case; `email` may be null.
 */
export const findUnprovisionedUser = statement(
  'find_unprovisioned_user',
  ['provider', 'userName', 'email'],
  `select u.id from {ns}.identities i join {ns}.users u on u.id = i.user_id
   where i.provider = $1 and u.is_sso_user and u.deleted_at is null
     and (lower(i.provider_id) = lower($2) or u.email = $3)
     and not exists (select from {ns}.scim_users s where s.user_id = u.id)
   order by lower(i.provider_id) = lower($2) desc, u.created_at limit 1`,
).returning<{ readonly id: string }>()

export interface ScimUserWrite extends AdminAction {
  readonly user_id: string
  readonly sso_provider_id: string
  readonly user_name: string
  readonly external_id: string | null
  readonly active: boolean
  readonly attributes: Metadata
  readonly is_deleted: boolean
  /** Null if the user has no address. */
  readonly email: string | null
  readonly is_email_verified: boolean
  /** Merged into the metadata of the user. */
  readonly user_metadata: Metadata
  /** The version that was read; null when the user is provisioned. */
  readonly expected: Time | null
}

/**
 * Writes a user and its account. A user who is not active is banned and signed out in the same
 * transaction. Returns no row if the account does not exist or was changed since it was read. A name
 * that is taken violates `scim_users_name`.
 */
export const writeScimUser = statement(
  'write_scim_user',
  object<ScimUserWrite>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(user_id uuid, sso_provider_id uuid,
       user_name text, external_id text, active boolean, attributes jsonb, is_deleted boolean,
       email text, is_email_verified boolean, user_metadata jsonb, expected timestamptz,
       ${actionColumns})
   ), current as materialized (
     select s.user_id, s.user_name, s.banned_before from {ns}.scim_users s cross join p
     where s.user_id = p.user_id and s.sso_provider_id = p.sso_provider_id
       and (p.expected is null or s.updated_at = p.expected)
     for update of s
   ), ending as materialized (
     -- Locks sessions before the user, in the same order as a token refresh, to avoid deadlocks.
     select s.id from {ns}.sessions s cross join p
     where s.user_id = p.user_id and s.revoked_at is null and not p.active
       and (p.expected is null or exists (select from current))
     order by s.id for update of s
   ), due as materialized (
     select u.id, u.banned_until from {ns}.users u cross join p
     where u.id = p.user_id and u.is_sso_user and u.deleted_at is null
       and (select count(*) from ending) >= 0
       and (p.expected is null or exists (select from current))
     for update of u
   ), s as (
     insert into {ns}.scim_users as s (user_id, sso_provider_id, user_name, external_id, active,
       attributes, created_at, updated_at, deleted_at, banned_before)
     select due.id, p.sso_provider_id, p.user_name, p.external_id, p.active, p.attributes, p.now,
       p.now, case when p.is_deleted then p.now end, case when p.active then null
         when due.banned_until = ${forever} then c.banned_before else due.banned_until end
     from due cross join p left join current c on true
     on conflict (user_id) do update set user_name = excluded.user_name,
       external_id = excluded.external_id, active = excluded.active,
       attributes = excluded.attributes, updated_at = excluded.updated_at,
       deleted_at = excluded.deleted_at, banned_before = excluded.banned_before
       where s.sso_provider_id = excluded.sso_provider_id
     returning s.*
   ), changed as (
     update {ns}.users u set
       email = p.email,
       email_confirmed_at = case when p.is_email_verified
         then coalesce(u.email_confirmed_at, p.now) end,
       banned_until = case when not p.active then ${forever}
         when u.banned_until = ${forever} then c.banned_before else u.banned_until end,
       raw_user_meta_data = u.raw_user_meta_data || p.user_metadata,
       raw_app_meta_data = case when p.is_deleted then u.raw_app_meta_data - 'groups'
         else u.raw_app_meta_data end,
       updated_at = p.now
     from s cross join p left join current c on true
     where u.id = s.user_id
   ), freed as (
     -- The provider may give the former name to someone else, who must not get this account.
     delete from {ns}.identities i using s cross join current c
     where i.user_id = s.user_id and i.provider = 'sso:' || s.sso_provider_id
       and lower(i.provider_id) = lower(c.user_name) and lower(c.user_name) <> lower(s.user_name)
   ), ended as (
     update {ns}.sessions x set revoked_at = p.now, updated_at = p.now
     from ending e cross join p
     where x.id = e.id and exists (select from s)
   ), unlisted as (
     delete from {ns}.scim_members m using s cross join p
     where m.user_id = s.user_id and p.is_deleted
   ), ${logAction('s')}
   select ${columns} from s`,
).returning<ScimUserRow>()
