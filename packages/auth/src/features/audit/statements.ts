import { statement } from '../../db/statement.ts'
import type { Time } from '../users/statements/user-row.ts'

/**
 * Separate limits for known and unknown accounts, so that a flood of one kind cannot displace the
 * other.
 */
const mostAccountFailures = 20_000
const mostUnknownFailures = 5_000

/**
 * Adds the counts of a process, given as JSON arrays. Rows are written in key order, so that
 * concurrent writers do not deadlock.
 */
export const writeSignIns = statement(
  'write_sign_ins',
  ['counts', 'failures'],
  `with counted as (
     insert into {ns}.sign_in_counts as c (step, outcome, count)
     select step, outcome, count from jsonb_to_recordset($1::jsonb)
       as n(step timestamptz, outcome text, count bigint)
     order by step, outcome
     on conflict (step, outcome) do update set count = c.count + excluded.count
   ), noted as (
     select * from jsonb_to_recordset($2::jsonb) as n(id uuid, period timestamptz, aud text, name text,
       reason text, ip_address text, user_id uuid, count bigint, first_at timestamptz, last_at timestamptz,
       user_agent text, request_id text)
   )
   insert into {ns}.sign_in_failures as f (id, period, aud, name, reason, ip_address, user_id, count,
     first_at, last_at, user_agent, request_id)
   select n.id, n.period, n.aud, n.name, n.reason, n.ip_address,
     coalesce(
       (select u.id from {ns}.users u where u.id = n.user_id),
       (select u.id from {ns}.users u where u.email = n.name and u.aud = n.aud
         and not u.is_sso_user and u.deleted_at is null),
       (select u.id from {ns}.users u where u.phone = n.name and u.aud = n.aud
         and u.deleted_at is null)
     ), n.count, n.first_at, n.last_at, n.user_agent, n.request_id
   from noted n order by n.period, n.aud, n.name, n.reason, n.ip_address
   on conflict (period, aud, name, reason, ip_address) do update set
     count = f.count + excluded.count, last_at = greatest(f.last_at, excluded.last_at),
     user_id = coalesce(f.user_id, excluded.user_id),
     user_agent = case when excluded.last_at < f.last_at then f.user_agent else excluded.user_agent end,
     request_id = case when excluded.last_at < f.last_at then f.request_id else excluded.request_id end`,
)

const beyond = (condition: string, most: number) =>
  `select id from {ns}.sign_in_failures where ${condition} order by last_at desc, id desc
     offset ${most} limit 5000`

/** Deletes rows beyond the limits and rows that are too old. */
export const trimSignIns = statement(
  'trim_sign_ins',
  ['countsBefore', 'failuresBefore'],
  `with counts_gone as (
     delete from {ns}.sign_in_counts where step < $1
   )
   delete from {ns}.sign_in_failures where id = any(array(
     (${beyond('user_id is null', mostUnknownFailures)})
     union all (${beyond('user_id is not null', mostAccountFailures)})
     union all (select id from {ns}.sign_in_failures where last_at < $2 limit 5000)
   ))`,
)

export type SignInCountRow = {
  readonly step: Time
  readonly outcome: string
  readonly count: number
}

/** The counts from the step `first` on. */
export const listSignInCounts = statement(
  'list_sign_in_counts',
  ['first'],
  `select step, outcome, count from {ns}.sign_in_counts where step >= $1 order by step, outcome`,
).returning<SignInCountRow>()

export type SignInFailureRow = {
  readonly id: string
  readonly user_id: string | null
  readonly name: string
  readonly reason: string
  readonly ip_address: string
  readonly count: number
  readonly first_at: Time
  readonly last_at: Time
}

const columns = 'id, user_id, name, reason, ip_address, count, first_at, last_at'

/** Newest first. */
export const listSignInFailures = statement(
  'list_sign_in_failures',
  ['offset', 'limit'],
  `select ${columns} from {ns}.sign_in_failures order by last_at desc, id desc offset $1 limit $2`,
).returning<SignInFailureRow>()

/** The failures of one user, newest first. */
export const listUserSignInFailures = statement(
  'list_user_sign_in_failures',
  ['offset', 'limit', 'userId'],
  `select ${columns} from {ns}.sign_in_failures where user_id = $3
   order by last_at desc, id desc offset $1 limit $2`,
).returning<SignInFailureRow>()

/** The columns of `AdminAction` in the parameters of a statement. */
export const actionColumns = 'now timestamptz, ip text, audit jsonb'

/**
 * Writes the entry in `p`, if there is a row in `changed`.
 * @param changed the name of a common table expression.
 */
export const logAction = (changed: string) => `logged as (
     insert into {ns}.audit_log_entries (id, payload, ip_address, created_at)
     select entry.id, entry.payload, p.ip, p.now
     from ${changed} cross join p cross join jsonb_to_record(p.audit) as entry(id uuid, payload jsonb)
   )`
