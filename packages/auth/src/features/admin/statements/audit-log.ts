import { type NamedValues, type Statement, statement } from '../../../db/statement.ts'
import type { Metadata } from '../../users/metadata.ts'
import type { Time } from '../../users/statements/user-row.ts'

export interface AuditRow {
  readonly [column: string]: unknown
  readonly id: string
  readonly payload: Metadata
  readonly ip_address: string
  readonly created_at: Time
}

type Nullable<Type> = { readonly [Name in keyof Type]: Type[Name] | null }

/** Without an id: the page is empty, and this row only has the numbers. */
export interface AuditPageRow extends Nullable<AuditRow> {
  /** Exact up to `exactlyCounted`; above, an estimate or just one more. */
  readonly total: number
}

export interface AuditWindowRow extends Nullable<AuditRow> {
  /** How many entries were read, and matched. */
  readonly read: number
  readonly matched: number
  /** The last entry that was read. */
  readonly last_time: Time | null
  readonly last_id: string | null
}

/** Beyond as many entries the total is an estimate: to count 10 million takes seconds. */
export const exactlyCounted = 10_000
/** The same for searches, which read the entries and not just an index. */
export const exactlyMatched = 1_000

const table = '{ns}.audit_log_entries'
const columns = 'id, payload, ip_address, created_at'
const order = 'created_at desc, id desc'
/** $3 and $4 are the time and the id of an entry: those before it. `infinity` begins with the newest. */
const isBefore = 'created_at <= $3 and (created_at, id) < ($3::timestamptz, $4::uuid)'

/** Whom an entry is about, whoever did it: as the index has it. */
const subject = "coalesce(payload #>> '{traits,user_id}', payload ->> 'actor_id')::uuid"

/** The page, and the time and the id of the entry to begin after. */
const pageParameters = ['offset', 'limit', 'time', 'id'] as const
type PageParameter = (typeof pageParameters)[number]

/** The newest first. Where there are too many to count, PostgreSQL's own estimate is the total. */
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

/** A page of the entries that match something. */
export type AuditSearchStatement = Statement<NamedValues<PageParameter | 'match'>, AuditPageRow>

/** Those about one user, whose id is `match`. */
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

const type = "(payload ->> 'log_type')"
const action = "(payload ->> 'action')"
/** What the index of types and actions has: all but refreshes. */
const isIndexed = `${type} is distinct from 'token'`

/**
 * Those whose type or action matches a pattern, of all but refreshes. The types and actions that there
 * are, some dozens, are read off the index first: it is entered once for each of them.
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

/** As `ilike` would, in half the time; $5 in lower case is worked out once and not for every entry. */
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

/** Reads `most` entries, the newest first, and no more, however few of them match. */
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
