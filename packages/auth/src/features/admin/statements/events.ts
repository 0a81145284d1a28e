import type { Row } from '../../../db/database.ts'
import { type NamedValues, type Statement, statement } from '../../../db/statement.ts'
import type { Time } from '../../users/statements/user-row.ts'
import type { AuditRow } from './audit-log.ts'
import { action, auditTable, isIndexed, type Nullable, subject, type } from './audit-log.ts'

/** When there are no events, one row without an event is returned, and its ID is null. */
interface EventRow extends Nullable<AuditRow> {
  /** The snapshot that the statement reads, and its time. The live tail continues from there. */
  readonly snapshot: string
  readonly at: Time
}

export interface EventPageRow extends EventRow {
  /** The number of audit entries that were read, and the last of them. */
  readonly read: number
  readonly last_time: Time | null
  readonly last_id: string | null
}

/** The filters of both statements. Null values match everything. */
const filterParameters = [
  ...(['users', 'name', 'text', 'address', 'action', 'type', 'reason'] as const),
  ...(['hasTokens', 'hasAudit', 'hasFailures', 'from'] as const),
] as const

/** The entry before or after which the page begins. */
const pageParameters = [...filterParameters, 'time', 'id', 'limit', 'most'] as const
const tailParameters = [
  ...(['since', 'until', 'time', 'id', 'limit', ...filterParameters] as const),
] as const

type Toward<Name extends string> = (name: Name) => string

/** Returns a function from the name of a parameter to its placeholder. */
function toPlaceholders<const Name extends string>(names: readonly Name[]): Toward<Name> {
  return (name) => `$${names.indexOf(name) + 1}`
}

type FilterName = (typeof filterParameters)[number]

const failures = '{ns}.sign_in_failures'
const hasText = (value: string, text: string) => `strpos(lower(${value}), ${text}::text) > 0`

/** The conditions on audit entries, in addition to the one that the index answers. */
function toAuditFilter(p: Toward<FilterName>): string {
  const names = ["payload ->> 'actor_username'", "payload ->> 'actor_name'"]
  const subjects = ["payload #>> '{traits,user_email}'", "payload #>> '{traits,user_phone}'"]
  return [
    `(${p('hasTokens')}::boolean or ${isIndexed})`,
    `(${p('users')}::uuid[] is null or ${subject} = any(${p('users')}::uuid[]))`,
    `(${p('text')}::text is null or ${[...names, ...subjects].map((name) => hasText(name, p('text'))).join(' or ')})`,
    `(${p('address')}::text is null or ip_address = ${p('address')}::text)`,
    `(${p('action')}::text is null or (${type} = ${p('type')}::text and ${action} = ${p('action')}::text))`,
  ].join(' and ')
}

function toFailureFilter(p: Toward<FilterName>): string {
  return [
    `${p('hasFailures')}::boolean`,
    `(${p('users')}::uuid[] is null or user_id = any(${p('users')}::uuid[]) or name = ${p('name')}::text)`,
    `(${p('text')}::text is null or ${hasText('name', p('text'))})`,
    `(${p('address')}::text is null or ip_address = ${p('address')}::text)`,
    `(${p('reason')}::text is null or reason = ${p('reason')}::text)`,
  ].join(' and ')
}

/** Failed sign-ins have the form of audit entries. Attempts that share a row have the time and request of the last one. */
const failureColumns = `id, jsonb_build_object('action', 'login_failed', 'log_type', 'account',
    'actor_id', coalesce(user_id::text, ''), 'actor_username', name,
    'traits', jsonb_build_object('reason', reason, 'count', count, 'first_at', first_at))
    || jsonb_strip_nulls(jsonb_build_object('user_agent', nullif(user_agent, ''),
      'request_id', nullif(request_id, ''))) as payload,
    ip_address, last_at as created_at`

const order = 'created_at desc, id desc'
const seen = 'select pg_current_snapshot()::text as snapshot, now() as at'

/** Which index finds the audit entries. All conditions are checked in any case. */
export type EventIndex = 'time' | 'user' | 'address' | 'action'

type PageStatement = Statement<NamedValues<(typeof pageParameters)[number]>, EventPageRow>

/** Reads at most `most` audit entries, newest first, however few of them match. */
function toPageStatement(index: EventIndex): PageStatement {
  const p = toPlaceholders(pageParameters)
  const isBefore = (time: string) =>
    `${time} <= ${p('time')} and (${time}, id) < (${p('time')}::timestamptz, ${p('id')}::uuid)
       and ${time} >= ${p('from')}::timestamptz`
  const read = (condition: string) => `select created_at, id,
         coalesce(${toAuditFilter(p)}, false) as is_match from ${auditTable}
       where ${p('hasAudit')}::boolean and ${condition} and ${isBefore('created_at')}
       order by ${order} limit ${p('most')}`
  const found = {
    time: read('true'),
    user: `select e.* from unnest(${p('users')}::uuid[]) as wanted(id)
       cross join lateral (${read(`${subject} = wanted.id`)}) e order by ${order} limit ${p('most')}`,
    address: read(`${isIndexed} and ip_address = ${p('address')}::text`),
    action: read(
      `${isIndexed} and ${type} = ${p('type')}::text and ${action} = ${p('action')}::text`,
    ),
  }[index]
  return statement(
    `list_events_by_${index}`,
    pageParameters,
    `with read as materialized (${found}), counted as (
       select count(*)::integer as read from read
     ), last as (
       select created_at, id from read order by created_at, id limit 1
     ), page as (
       select created_at, id, false as is_failure from read where is_match
       union all
       select last_at, id, true from ${failures}
       where ${toFailureFilter(p)} and ${isBefore('last_at')}
         and ((select read from counted) < ${p('most')}
           or (last_at, id) > (select created_at, id from last))
       order by ${order} limit ${p('limit')}
     )
     select e.*, counted.read, last.created_at as last_time, last.id as last_id, seen.*
     from counted cross join (${seen}) seen left join last on true
       left join (page p cross join lateral (
         select id, payload, ip_address, created_at from ${auditTable} a
         where not p.is_failure and a.created_at = p.created_at and a.id = p.id
         union all
         select ${failureColumns} from ${failures} f where p.is_failure and f.id = p.id
       ) e) on true
     order by e.created_at desc, e.id desc`,
  ).returning<EventPageRow>()
}

export const listEvents: Readonly<Record<EventIndex, PageStatement>> = {
  time: toPageStatement('time'),
  user: toPageStatement('user'),
  address: toPageStatement('address'),
  action: toPageStatement('action'),
}

/**
 * The ID of the transaction that wrote a row. A row has only the lower 32 bits of it; no row that is
 * read here is two billion transactions old.
 */
const writer = (table: string) => `(
    select (top - ((top - ${table}.xmin::text::bigint) & 4294967295))::text::xid8
    from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as top) t)`

/**
 * The events that were committed after the snapshot `since`, oldest first. Times do not suffice,
 * because a transaction may commit after another one that has a later time. `until` continues a tail that had more
 * events than `limit`.
 */
export const tailEvents = toTailStatement()

function toTailStatement() {
  const p = toPlaceholders(tailParameters)
  // There is only one condition on the time: with two, PostgreSQL would start to read the index at the lower one.
  const start = `greatest(${p('time')}::timestamptz, ${p('from')}::timestamptz)`
  const isNew = (table: string, time: string) => `(${time}, id) > (${start}, ${p('id')}::uuid)
       and not pg_visible_in_snapshot(${writer(table)}, ${p('since')}::pg_snapshot)
       and (${p('until')}::pg_snapshot is null
         or pg_visible_in_snapshot(${writer(table)}, ${p('until')}::pg_snapshot))`
  return statement(
    'tail_events',
    tailParameters,
    `with fresh as (
       (select id, payload, ip_address, created_at from ${auditTable} a
         where ${p('hasAudit')}::boolean and ${isNew('a', 'created_at')} and ${toAuditFilter(p)})
       union all
       (select ${failureColumns} from ${failures} f
         where ${isNew('f', 'last_at')} and ${toFailureFilter(p)})
       order by created_at, id limit ${p('limit')}
     )
     select fresh.*, seen.* from (${seen}) seen left join fresh on true
     order by fresh.created_at, fresh.id`,
  ).returning<EventRow>()
}

interface UserIdRow extends Row {
  readonly id: string
}

/** The users with an email address or phone number, in the stored format. */
export const findEventUsers = statement(
  'find_event_users',
  ['name'],
  `(select id from {ns}.users where email = $1 and not is_sso_user)
   union select id from {ns}.users where phone = $1`,
).returning<UserIdRow>()
