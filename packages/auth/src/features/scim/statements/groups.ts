import type { Row } from '../../../db/database.ts'
import { object, statement } from '../../../db/statement.ts'
import type { Time } from '../../users/statements/user-row.ts'

export interface ScimGroupRow extends Row {
  readonly id: string
  readonly display_name: string
  readonly external_id: string | null
  readonly created_at: Time
  readonly updated_at: Time
  readonly members: readonly { readonly value: string; readonly display: string }[]
}

const columns = `g.id, g.display_name, g.external_id, g.created_at, g.updated_at, coalesce((
    select json_agg(json_build_object('value', s.user_id, 'display', s.user_name) order by s.user_id)
    from {ns}.scim_members m join {ns}.scim_users s on s.user_id = m.user_id
    where m.group_id = g.id), '[]') as members`

export const findScimGroup = statement(
  'find_scim_group',
  ['providerId', 'id'],
  `select ${columns} from {ns}.scim_groups g where g.sso_provider_id = $1 and g.id = $2`,
).returning<ScimGroupRow>()

/** Like `listScimUsers`. `displayName` may be null. */
export const listScimGroups = statement(
  'list_scim_groups',
  ['providerId', 'displayName', 'limit', 'offset'],
  `with matching as materialized (
     select g.id, g.created_at from {ns}.scim_groups g
     where g.sso_provider_id = $1 and ($2::text is null or lower(g.display_name) = lower($2))
   )
   select all_groups.total, page.*
   from (select count(*)::integer as total from matching) all_groups
   left join (
     select ${columns} from matching w join {ns}.scim_groups g on g.id = w.id
     order by g.created_at, g.id limit $3 offset $4
   ) page on true
   order by page.created_at, page.id`,
).returning<{ readonly total: number } & (ScimGroupRow | { readonly id: null })>()

export interface ScimGroupWrite {
  readonly id: string
  readonly sso_provider_id: string
  readonly display_name: string
  readonly external_id: string | null
  readonly members: readonly string[]
  readonly is_deleted: boolean
  readonly now: Date
}

/**
 * Writes a group with its members, of whom only users of the same provider are added. Returns the
 * users whose groups may have changed. A name that is taken violates `scim_groups_name`.
 */
export const writeScimGroup = statement(
  'write_scim_group',
  object<ScimGroupWrite>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, sso_provider_id uuid,
       display_name text, external_id text, members uuid[], is_deleted boolean, now timestamptz)
   ), before as materialized (
     select m.user_id from {ns}.scim_members m cross join p where m.group_id = p.id
   ), g as (
     insert into {ns}.scim_groups as g (id, sso_provider_id, display_name, external_id, created_at,
       updated_at)
     select p.id, p.sso_provider_id, p.display_name, p.external_id, p.now, p.now
     from p where not p.is_deleted
     on conflict (id) do update set display_name = excluded.display_name,
       external_id = excluded.external_id, updated_at = excluded.updated_at
       where g.sso_provider_id = excluded.sso_provider_id
     returning g.id
   ), gone as (
     delete from {ns}.scim_groups g using p
     where p.is_deleted and g.id = p.id and g.sso_provider_id = p.sso_provider_id
     returning g.id
   ), removed as (
     delete from {ns}.scim_members m using g cross join p
     where m.group_id = g.id and not m.user_id = any(p.members)
   ), added as (
     insert into {ns}.scim_members (group_id, user_id)
     select g.id, s.user_id
     from g cross join p join {ns}.scim_users s
       on s.user_id = any(p.members) and s.sso_provider_id = p.sso_provider_id
         and s.deleted_at is null
     on conflict do nothing
     returning user_id
   )
   select user_id from before union select user_id from added`,
).returning<{ readonly user_id: string }>()

/** Makes concurrent changes of a group wait for each other. */
export const lockScimGroup = statement(
  'lock_scim_group',
  ['providerId', 'id'],
  `select g.id from {ns}.scim_groups g where g.sso_provider_id = $1 and g.id = $2 for update`,
)

/**
 * Locks the present members of a group and those to come, in the same order as `writeScimUser`, to
 * avoid deadlocks.
 */
export const lockMembers = statement(
  'lock_members',
  ['providerId', 'id', 'members'],
  `with due as materialized (
     select s.user_id from {ns}.scim_users s
     where s.sso_provider_id = $1 and (s.user_id = any($3::uuid[])
       or s.user_id in (select m.user_id from {ns}.scim_members m where m.group_id = $2))
     order by s.user_id for update
   )
   select u.id from due join {ns}.users u on u.id = due.user_id order by u.id for update of u`,
)

/**
 * Sets `app_metadata.groups` to the names of the groups. The users are locked before this statement
 * starts, so that of several concurrent changes the last one sees all. Only rows that change are
 * written, because a group can have thousands of members.
 */
export const publishGroups = statement(
  'publish_groups',
  ['userIds', 'now'],
  `with named as materialized (
     select u.id, coalesce((
       select jsonb_agg(g.display_name order by g.display_name)
       from {ns}.scim_members m join {ns}.scim_groups g on g.id = m.group_id
       where m.user_id = u.id), '[]') as groups
     from {ns}.users u where u.id = any($1::uuid[])
   )
   update {ns}.users u set updated_at = $2,
     raw_app_meta_data = u.raw_app_meta_data || jsonb_build_object('groups', n.groups)
   from named n
   where u.id = n.id and u.raw_app_meta_data -> 'groups' is distinct from n.groups`,
)
