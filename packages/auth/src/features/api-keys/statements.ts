import type { Row } from '../../db/database.ts'
import { batch, object, statement } from '../../db/statement.ts'
import type { NewAuditEntry } from '../../messages/statements/request-parts.ts'
import type { Metadata } from '../../stored-json.ts'
import { logAction } from '../audit/statements.ts'
import type { Time } from '../users/statements/user-row.ts'

export interface ApiKeyRow extends Row {
  readonly id: string
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly name: string
  readonly hint: string
  readonly scopes: readonly string[]
  readonly plan: string | null
  readonly expires_at: Time | null
  readonly last_used_at: Time | null
  readonly rotated_at: Time | null
  readonly previous_until: Time | null
  readonly created_at: Time
}

const columns = `k.id, k.user_id, k.service_account_id, k.name, k.hint, k.scopes, k.plan, k.expires_at,
  k.last_used_at, k.rotated_at, k.previous_until, k.created_at`

interface Change {
  readonly id: string
  readonly now: Date
  readonly ip: string
  readonly audit: NewAuditEntry
}

export interface NewApiKey extends Change {
  readonly user_id: string | null
  readonly service_account_id: string | null
  readonly name: string
  readonly hint: string
  /** In hexadecimal. */
  readonly secret_hash: string
  readonly scopes: readonly string[]
  readonly plan: string | null
  readonly expires_at: Date | null
  /** Maximum number of keys of the owner. */
  readonly most: number
}

/** Locks the owner, so that two concurrent requests cannot exceed the limit. */
export const lockKeyOwner = statement(
  'lock_key_owner',
  ['userId', 'serviceAccountId'],
  `with locked_user as materialized (
     select id from {ns}.users where id = $1::uuid and deleted_at is null for update
   ), locked_account as materialized (
     select id from {ns}.service_accounts where id = $2::uuid for update
   )
   select id from locked_user union all select id from locked_account`,
)

/** Returns no row when the owner has too many keys. Must run after `lockKeyOwner`. */
export const addApiKey = statement(
  'add_api_key',
  object<NewApiKey>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, user_id uuid, service_account_id uuid,
       name text, hint text, secret_hash text, scopes jsonb, plan text, expires_at timestamptz,
       most integer, now timestamptz, ip text, audit jsonb)
   ), k as (
     insert into {ns}.api_keys (id, user_id, service_account_id, name, hint, secret_hash, scopes, plan,
       expires_at, created_at)
     select p.id, p.user_id, p.service_account_id, p.name, p.hint, decode(p.secret_hash, 'hex'),
       p.scopes, p.plan, p.expires_at, p.now
     from p
     where (select count(*) from {ns}.api_keys o
       where o.user_id = p.user_id or o.service_account_id = p.service_account_id) < p.most
     returning *
   ), ${logAction('k')}
   select ${columns} from k`,
).returning<ApiKeyRow>()

/** The keys of a user, oldest first. */
export const listUserKeys = statement(
  'list_user_keys',
  ['userId'],
  `select ${columns} from {ns}.api_keys k where k.user_id = $1 order by k.created_at, k.id`,
).returning<ApiKeyRow>()

/** A page of keys, newest first. The owners may be null. An empty page has one row without a key. */
export const listApiKeys = statement(
  'list_api_keys',
  ['userId', 'serviceAccountId', 'limit', 'offset'],
  `with found as materialized (
     select ${columns} from {ns}.api_keys k
     where ($1::uuid is null or k.user_id = $1)
       and ($2::uuid is null or k.service_account_id = $2)
   )
   select (select count(*) from found)::integer as total, k.*
   from (select) one left join (
     select * from found order by created_at desc, id desc limit $3 offset $4
   ) k on true
   order by k.created_at desc, k.id desc`,
).returning<{ readonly total: number } & (ApiKeyRow | { readonly id: null })>()

interface Rotation extends Change {
  /** Null: any owner. */
  readonly user_id: string | null
  readonly hint: string
  /** In hexadecimal. */
  readonly secret_hash: string
  /** Null: the previous secret is no longer valid. */
  readonly previous_until: Date | null
}

/** Replaces the secret. Returns no row if the user has no such key. A trigger revokes the tokens of removed secrets. */
export const rotateApiKey = statement(
  'rotate_api_key',
  object<Rotation>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, user_id uuid, hint text, secret_hash text,
       previous_until timestamptz, now timestamptz, ip text, audit jsonb)
   ), k as (
     update {ns}.api_keys k set secret_hash = decode(p.secret_hash, 'hex'), hint = p.hint,
       previous_hash = case when p.previous_until is not null then k.secret_hash end,
       previous_until = p.previous_until,
       rotated_at = p.now
     from p where k.id = p.id and (p.user_id is null or k.user_id = p.user_id)
     returning k.*
   ), ${logAction('k')}
   select ${columns} from k`,
).returning<ApiKeyRow>()

interface Removal extends Change {
  /** Null: any owner. */
  readonly user_id: string | null
}

/** Returns no row if the user has no such key. */
export const removeApiKey = statement(
  'remove_api_key',
  object<Removal>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, user_id uuid, now timestamptz, ip text,
       audit jsonb)
   ), k as (
     delete from {ns}.api_keys k using p
     where k.id = p.id and (p.user_id is null or k.user_id = p.user_id)
     returning k.*
   ), ${logAction('k')}
   select ${columns} from k`,
).returning<ApiKeyRow>()

/** A key with what its owner decides about its tokens. */
export interface ShownKeyRow extends ApiKeyRow {
  readonly secret_hash: Buffer
  readonly previous_hash: Buffer | null
  readonly role: string
  /** Null for a service account. */
  readonly audience: string | null
  readonly app_metadata: Metadata | null
  readonly owner_plan: string | null
  readonly is_anonymous: boolean | null
  readonly banned_until: Time | null
  readonly deleted_at: Time | null
}

/** Runs for every use of a key. */
export const findShownKey = statement(
  'find_shown_key',
  batch(['id']),
  `select shown.position, ${columns}, k.secret_hash, k.previous_hash,
     coalesce(u.role, s.role) as role, u.aud as audience, u.raw_app_meta_data as app_metadata,
     s.plan as owner_plan, u.is_anonymous, u.banned_until, u.deleted_at
   from unnest((select $1::uuid[])) with ordinality as shown(id, position)
     cross join lateral (select * from {ns}.api_keys where id = shown.id offset 0) k
     left join {ns}.users u on u.id = k.user_id
     left join {ns}.service_accounts s on s.id = k.service_account_id`,
).returning<ShownKeyRow>()

/** Records the use of a key, at most once a minute. */
export const touchApiKey = statement(
  'touch_api_key',
  ['id', 'now', 'before'],
  `update {ns}.api_keys set last_used_at = $2
   where id = $1 and (last_used_at is null or last_used_at < $3)`,
)

export interface ServiceAccountRow extends Row {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly plan: string | null
  readonly created_at: Time
}

interface NewServiceAccount extends Change {
  readonly name: string
  readonly role: string
  readonly plan: string | null
}

export const addServiceAccount = statement(
  'add_service_account',
  object<NewServiceAccount>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, name text, role text, plan text,
       now timestamptz, ip text, audit jsonb)
   ), s as (
     insert into {ns}.service_accounts (id, name, role, plan, created_at)
     select p.id, p.name, p.role, p.plan, p.now from p
     returning *
   ), ${logAction('s')}
   select id, name, role, plan, created_at from s`,
).returning<ServiceAccountRow>()

export const listServiceAccounts = statement(
  'list_service_accounts',
  `select id, name, role, plan, created_at from {ns}.service_accounts
   order by created_at, id limit 1000`,
).returning<ServiceAccountRow>()

/** Its keys are removed with it. Returns no row if the account does not exist. */
export const removeServiceAccount = statement(
  'remove_service_account',
  object<Change>(),
  `with p as materialized (
     select * from jsonb_to_record($1::jsonb) as p(id uuid, now timestamptz, ip text, audit jsonb)
   ), s as (
     delete from {ns}.service_accounts s using p where s.id = p.id returning s.id
   ), ${logAction('s')}
   select id from s`,
)
