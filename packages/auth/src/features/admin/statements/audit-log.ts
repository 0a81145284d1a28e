import { type NamedValues, type Statement, statement } from '../../../db/statement.ts'
import type { Metadata } from '../../../stored-json.ts'
import type { Time } from '../../users/statements/user-row.ts'

export interface AuditRow {
  readonly [column: string]: unknown
  readonly id: string
  readonly payload: Metadata
  readonly ip_address: string
  readonly created_at: Time
}

export type Nullable<Type> = { readonly [Name in keyof Type]: Type[Name] | null }

/** When the page is empty, one row with only the counts is returned, and its ID is null. */
export interface AuditPageRow extends Nullable<AuditRow> {
  /**
   * Exact up to `exactlyCounted`, and up to `exactlyMatched` in a search. Above that, an estimate;
   * in a search, one more than the limit.
   */
  readonly total: number
}

export interface AuditWindowRow extends Nullable<AuditRow> {
  /** The number of entries that were read, and how many of them match. */
  readonly read: number
  readonly matched: number
  /** The last entry that was read. */
  readonly last_time: Time | null
  readonly last_id: string | null
}

/** With more entries, the total is an estimate, because counting 10 million entries takes seconds. */
export const exactlyCounted = 10_000
/** The same limit for searches, which read the entries instead of an index. */
export const exactlyMatched = 1_000

export const auditTable = '{ns}.audit_log_entries'
const table = auditTable

/** For actions that change nothing else in the database. */
export const writeAuditEntry = statement(
  'write_audit_entry',
  ['id', 'payload', 'ip', 'now'],
  `insert into ${table} (id, payload, ip_address, created_at) values ($1, $2, $3, $4)`,
)

const columns = 'id, payload, ip_address, created_at'
const order = 'created_at desc, id desc'
/** Selects the entries before the time $3 and the ID $4. `infinity` selects all. */
const isBefore = 'created_at <= $3 and (created_at, id) < ($3::timestamptz, $4::uuid)'

/** The user that an entry is about, which may not be the actor. The index uses the same expression. */
export const subject = "coalesce(payload #>> '{traits,user_id}', payload ->> 'actor_id')::uuid"

/** The page, and the time and the ID of the entry after which it begins. */
const pageParameters = ['offset', 'limit', 'time', 'id'] as const
type PageParameter = (typeof pageParameters)[number]

/**
 * Newest first. With too many entries to count, the total is the estimate of PostgreSQL's
 * statistics.
 */
export const listAuditEntries = statement(
  'list_audit_entries',
  pageParameters,
  `with counted as (
     select count(*)::integer as count from (select from ${table} limit ${exactlyCounted + 1}) c
   ), page as (
     select created_at, id from ${table} where ${isBefore} order by ${order} offset $1 limit $2
   )
   select e.*, case when counted.count <= ${exactlyCounted} then counted.count
     else greatest(counted.count, (select reltuples::integer from pg_class
       where oid = '${table}'::regclass)) end as total
   from counted left join (page p cross join lateral (
     select ${columns} from ${table} a where a.created_at = p.created_at and a.id = p.id
   ) e) on true
   order by e.created_at desc, e.id desc`,
).returning<AuditPageRow>()

/** Returns a page of the entries that match. */
export type AuditSearchStatement = Statement<NamedValues<PageParameter | 'match'>, AuditPageRow>

/** The entries about the user whose ID is `match`. */
export const listUserAuditEntries: AuditSearchStatement = statement(
  'list_user_audit_entries',
  [...pageParameters, 'match'],
  `with counted as (
     select count(*)::integer as total
     from (select from ${table} where ${subject} = $5 limit ${exactlyMatched + 1}) c
   ), page as (
     select ${columns} from ${table} where ${subject} = $5 and ${isBefore}
     order by ${order} offset $1 limit $2
   )
   select page.*, counted.total from counted left join page on true
   order by page.created_at desc, page.id desc`,
).returning<AuditPageRow>()

export const type = "(payload ->> 'log_type')"
export const action = "(payload ->> 'action')"
/** The index of types and actions contains all entries except token refreshes. */
export const isIndexed = `${type} is distinct from 'token'`

/**
 * The entries whose type or action matches a pattern, without token refreshes. The distinct types
 * and actions, a few dozen, are read from the index first, with one lookup each.
 */
function toKindStatement(name: 'type' | 'action'): AuditSearchStatement {
  const firstKind = (
    condition: string,
  ) => `select ${type} as type, ${action} as action from ${table}
       where ${isIndexed} and ${condition} order by 1, 2 limit 1`
  const ofKind = `${isIndexed} and ${type} = k.type and ${action} = k.action`
  return statement(
    `list_audit_entries_by_${name}`,
    [...pageParameters, 'match'],
    `with recursive kinds as (
       (${firstKind('true')})
       union all
       select next.* from kinds k cross join lateral (
         ${firstKind(`(${type}, ${action}) > (k.type, k.action)`)}
       ) next
     ), wanted as materialized (
       select * from kinds where ${name} ilike $5
     ), counted as (
       select count(*)::integer as total from (
         select from wanted k cross join lateral (
           select from ${table} where ${ofKind} limit ${exactlyMatched + 1}
         ) c limit ${exactlyMatched + 1}
       ) c
     ), page as (
       select e.* from wanted k cross join lateral (
         select created_at, id from ${table} where ${ofKind} and ${isBefore}
         order by ${order} limit $1::bigint + $2::bigint
       ) e
       order by ${order} offset $1 limit $2
     )
     select e.*, counted.total
     from counted left join (page p cross join lateral (
       select ${columns} from ${table} a where a.created_at = p.created_at and a.id = p.id
     ) e) on true
     order by e.created_at desc, e.id desc`,
  ).returning<AuditPageRow>()
}

export const listAuditEntriesByKind = {
  type: toKindStatement('type'),
  action: toKindStatement('action'),
} as const

/** Same result as `ilike`, in half the time: $5 is converted to lower case only once. */
const hasText = (text: string) => `strpos(lower(${text}), (select lower($5::text))) > 0`

const matches = {
  author: `(${hasText("payload ->> 'actor_username'")} or ${hasText("payload ->> 'actor_name'")})`,
  type: hasText(type),
  action: hasText(action),
} as const

export type AuditWindowStatement = Statement<
  NamedValues<PageParameter | 'text' | 'most'>,
  AuditWindowRow
>

/** Reads at most `most` entries, newest first, however few of them match. */
function toWindowStatement(name: keyof typeof matches): AuditWindowStatement {
  return statement(
    `read_audit_entries_by_${name}`,
    [...pageParameters, 'text', 'most'],
    `with read as materialized (
       select created_at, id, coalesce(${matches[name]}, false) as is_match from ${table}
       where ${isBefore} order by ${order} limit $6
     ), page as (
       select created_at, id from read where is_match order by ${order} offset $1 limit $2
     ), last as (
       select created_at, id from read order by created_at, id limit 1
     ), counted as (
       select count(*)::integer as read, (count(*) filter (where is_match))::integer as matched from read
     )
     select e.*, counted.read, counted.matched, last.created_at as last_time, last.id as last_id
     from counted left join last on true left join (page p cross join lateral (
       select ${columns} from ${table} a where a.created_at = p.created_at and a.id = p.id
     ) e) on true
     order by e.created_at desc, e.id desc`,
  ).returning<AuditWindowRow>()
}

export const readAuditEntries = {
  author: toWindowStatement('author'),
  type: toWindowStatement('type'),
  action: toWindowStatement('action'),
} as const
