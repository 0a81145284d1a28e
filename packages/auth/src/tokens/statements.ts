import type { Row } from '../db/database.ts'
import { type Statement, statement } from '../db/statement.ts'
import type { KeyName } from './key-ring.ts'

export interface KeyRow extends Row {
  readonly name: string
  readonly version: number
  readonly value: Buffer
  readonly wrapped_with: string | null
  readonly active_in_ms: number
  readonly created_at: string
}

export const listKeys = statement(
  'list_secret_keys',
  `select name, version, value, wrapped_with, created_at,
     extract(epoch from active_at - clock_timestamp())::double precision * 1000 as active_in_ms
   from {ns}.secret_keys order by name, version desc`,
).returning<KeyRow>()

/** Stores a key for servers of the previous release, unless one of them has created it first. */
export const keepPlainKey = statement(
  'keep_server_key',
  ['name', 'key'],
  `with kept as (
     insert into {ns}.server_keys (name, value) values ($1, $2) on conflict (name) do nothing
     returning value
   )
   select value from kept union all select value from {ns}.server_keys where name = $1 limit 1`,
).returning<{ readonly value: Buffer }>()

export const findPlainKey = statement(
  'find_server_key',
  ['name'],
  'select value from {ns}.server_keys where name = $1',
).returning<{ readonly value: Buffer }>()

/** Adds the first version; the fingerprint is null if the value is not encrypted. */
export const addFirstKey = statement(
  'add_first_key',
  ['name', 'value', 'fingerprint'],
  `insert into {ns}.secret_keys (name, version, value, wrapped_with) values ($1, 1, $2, $3)
   on conflict (name, version) do nothing`,
)

/**
 * Replaces the value unless another process was faster; `before` is the previous fingerprint. Also
 * deletes the unencrypted copy for servers of the previous release.
 */
export const rewrapKey = statement(
  'rewrap_key',
  ['name', 'version', 'value', 'fingerprint', 'before'],
  `with rewrapped as (
     update {ns}.secret_keys set value = $3, wrapped_with = $4
     where name = $1 and version = $2 and wrapped_with is not distinct from $5
   )
   delete from {ns}.server_keys where name = $1`,
)

export const addKeyVersion = statement(
  'add_key_version',
  ['name', 'value', 'fingerprint', 'usedInMs', 'version'],
  `insert into {ns}.secret_keys (name, version, value, wrapped_with, active_at)
   select $1, $5, $2, $3, now() + $4::double precision * interval '1 ms'
   returning version`,
)

/** Deletes all versions except the newest. */
export const deleteOlderKeys = statement(
  'delete_older_keys',
  ['name', 'newest'],
  'delete from {ns}.secret_keys where name = $1 and version < $2',
)

const activeAt = `(select max(active_at) from {ns}.secret_keys where name = $1)`

/** Counts rows that only an older version of the key can verify. */
export const countDependents: Readonly<
  Partial<Record<KeyName, Statement<{ readonly name: unknown }, { readonly count: number }>>>
> = {
  refresh_tokens: statement(
    'count_older_sessions',
    ['name'],
    `select count(*)::integer as count from {ns}.sessions s
     where s.revoked_at is null and (s.not_after is null or s.not_after > now())
       and coalesce(s.refreshed_at, s.created_at) < ${activeAt}`,
  ).returning<{ readonly count: number }>(),
  one_time_tokens: statement(
    'count_older_codes',
    ['name'],
    `select ((select count(*) from {ns}.one_time_tokens
         where expires_at > now() and created_at < ${activeAt})
       + (select count(*) from {ns}.mfa_challenges
         where otp_hash is not null and verified_at is null and expires_at > now()
           and created_at < ${activeAt})
       + (select count(*) from {ns}.mfa_recovery_codes
         where used_at is null and created_at < ${activeAt}))::integer as count`,
  ).returning<{ readonly count: number }>(),
}

interface SealedRow extends Row {
  readonly id: string
  readonly secret: Buffer
}

/** Lists the secrets of second factors and custom providers whose id is greater than `after`. */
export const listFactorSecrets = statement(
  'list_factor_secrets',
  ['after', 'limit'],
  `select id, secret from (
     select id, secret from {ns}.mfa_factors where secret is not null
     union all select id, secret from {ns}.custom_providers
   ) sealed
   where id > $1 order by id limit $2`,
).returning<SealedRow>()

/** Has no effect if the secret was replaced in the meantime. */
export const resealFactorSecret = statement(
  'reseal_factor_secret',
  ['id', 'sealed', 'before'],
  `with provider as (
     update {ns}.custom_providers set secret = $2 where id = $1 and secret = $3
   )
   update {ns}.mfa_factors set secret = $2 where id = $1 and secret = $3`,
)

/** Stores a key for servers of the previous release, which read only this table. */
export const restorePlainKey = statement(
  'restore_server_key',
  ['name', 'key'],
  `insert into {ns}.server_keys (name, value) values ($1, $2)
   on conflict (name) do update set value = excluded.value`,
)

interface HashRow extends Row {
  readonly id: string
  /** As stored; null if the user has no password. */
  readonly hash: string | null
}

/**
 * Lists the password hashes of the next users whose ID is greater than `after`, also those that replace
 * the password when the user confirms an address.
 */
export const listPasswordHashes = statement(
  'list_password_hashes',
  ['after', 'limit'],
  `with page as materialized (
     select id, encrypted_password as hash from {ns}.users where id > $1 order by id limit $2
   )
   select id, hash from page
   union all
   select t.user_id, t.claim ->> 'hash'
   from {ns}.one_time_tokens t join page p on p.id = t.user_id
   where t.claim ->> 'hash' is not null
   order by id`,
).returning<HashRow>()

/**
 * Has no effect on a hash that was replaced in the meantime. Users are locked first and in the order of
 * their IDs, as in other statements, to avoid deadlocks.
 */
export const replacePasswordHashes = statement(
  'replace_password_hashes',
  ['ids', 'stored', 'before'],
  `with locked as materialized (
     select id from {ns}.users where id = any($1::uuid[]) order by id for update
   ), change as materialized (
     select c.* from unnest($1::uuid[], $2::text[], $3::text[]) as c(id, stored, before)
     join locked using (id)
   ), claimed as (
     update {ns}.one_time_tokens t set claim = t.claim || jsonb_build_object('hash', c.stored)
     from change c where t.user_id = c.id and t.claim ->> 'hash' = c.before
   )
   update {ns}.users u set encrypted_password = c.stored
   from change c where u.id = c.id and u.encrypted_password = c.before
   returning u.id`,
)
