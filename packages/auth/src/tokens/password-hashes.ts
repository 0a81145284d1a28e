import type { Row } from '../db/database.ts'
import { statement } from '../db/statement.ts'

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
