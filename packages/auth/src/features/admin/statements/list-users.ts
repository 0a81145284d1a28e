import { nilId } from '../../../db/nil-id.ts'
import { type Statement, statement } from '../../../db/statement.ts'
import { selectUser, type Time, type UserRow } from '../../users/statements/user-row.ts'

export type SortDirection = 'asc' | 'desc'

type Counted = { readonly total: number }

/** When the page is empty, one row with only the total is returned, and its ID is null. */
type UserPageRow = (UserRow & Counted) | (Counted & { readonly id: null })

const sortOrders = {
  asc: { order: 'u.created_at, u.id', reverse: 'u.created_at desc, u.id desc' },
  desc: { order: 'u.created_at desc, u.id desc', reverse: 'u.created_at, u.id' },
} as const

/**
 * Reads the index from the nearer end, so that the last page costs as little as the first. A limit
 * of 0 reads nothing.
 */
function toWholePages(direction: SortDirection): string {
  const { order, reverse } = sortOrders[direction]
  return `with total as materialized (
     select coalesce(sum(count), 0)::bigint as total from {ns}.user_counts where aud = $1
   ), near as (
     select u.id from {ns}.users u where u.aud = $1 order by ${order}
     -- A subquery hides the number from the planner, which would otherwise plan each page again.
     -- Planning takes as long as reading a page.
     offset (select $2::bigint)
     limit (select case when $2::bigint * 2 <= total then $3::bigint else 0 end from total)
   ), far as (
     select u.id from {ns}.users u where u.aud = $1 order by ${reverse}
     offset (select greatest(total - $2::bigint - $3::bigint, 0) from total)
     limit (select case when $2::bigint * 2 <= total then 0
       else greatest(least($3::bigint, total - $2::bigint), 0) end from total)
   ), page as (
     select id from near union all select id from far
   )`
}

/** Returns a page by its number. */
function toPageStatement(direction: SortDirection) {
  return statement(
    `list_users_${direction}`,
    ['audience', 'offset', 'limit'],
    `${toWholePages(direction)}
   select ${selectUser('u')}, total.total
   -- The array keeps PostgreSQL from overestimating the size of the page: it would otherwise read
   -- all users for the join and use JIT compilation.
   from total left join (unnest(array(select id from page)) as listed(id)
     cross join lateral (select * from {ns}.users x where x.id = listed.id limit 1) u) on true
   order by ${sortOrders[direction].order}`,
  ).returning<UserPageRow>()
}

/** The users after the one with this time and ID, or the first users if both are null. */
function toCursorStatement(direction: SortDirection) {
  return statement(
    `list_users_after_${direction}`,
    ['audience', 'createdAt', 'id', 'limit'],
    `select ${selectUser('u')} from {ns}.users u
   where u.aud = $1 and ${isAfter(direction)}
   order by ${sortOrders[direction].order} limit $4`,
  ).returning<UserRow>()
}

/** $2 is the time and $3 the ID of the user after which the page begins; null for the first page. */
function isAfter(direction: SortDirection): string {
  const [sign, first] = direction === 'asc' ? ['>', "'-infinity'"] : ['<', "'infinity'"]
  return `(u.created_at, u.id) ${sign} (coalesce($2::timestamptz, ${first}),
       coalesce($3::uuid, '${nilId}'))`
}

type ReadNumbers = {
  /** The number of users that were read, and how many of them match. */
  readonly read: number
  readonly matched: number
  readonly last_time: Time | null
  readonly last_id: string | null
  /** The number of users of the audience. */
  readonly users: number
}

type FoundNumbers = {
  /** Exact up to `mostFound`. Null when the search index does not exist. */
  readonly matched: number | null
}

/** When the page is empty, one row with only the counts is returned, and its ID is null. */
type WithNumbers<Numbers> = (UserRow & Numbers) | (Numbers & { readonly id: null })
export type ReadUserRow = WithNumbers<ReadNumbers>
export type FoundUserRow = WithNumbers<FoundNumbers>

export const mostFound = 10_000

export const fullName = "u.raw_user_meta_data ->> 'full_name'"

/** Same result as `ilike`, in half the time: $6 is converted to lower case only once. */
const hasText = (text: string) => `strpos(lower(${text}), (select lower($6::text))) > 0`
/**
 * $7: digits of a phone number. $8 and $9: the first and the last matching ID. Null when not
 * applicable.
 */
const isPhone = 'strpos(u.phone, $7::text) > 0'
const isId = 'u.id between $8::uuid and $9::uuid'
const isMatch = `(${hasText('u.email')} or ${hasText(fullName)} or ${isPhone} or ${isId})`

/**
 * Joins the rows of `page` through an array, for the same reason as in `toPageStatement`.
 * `listed.place` is their order.
 */
export const joinPage = `(unnest(array(select id from page)) with ordinality as listed(id, place)
     cross join lateral (select * from {ns}.users x where x.id = listed.id limit 1) u) on true`

/** The user after which to begin, as in `isAfter`, and the page. */
const searchParameters = ['audience', 'createdAt', 'id', 'offset', 'limit'] as const
/** The search text read as part of a phone number and as the start of an ID. */
const otherReadings = ['digits', 'firstId', 'lastId'] as const

/** Reads at most `most` users in order, however few of them match. */
function toReadStatement(direction: SortDirection) {
  const { order, reverse } = sortOrders[direction]
  return statement(
    `read_users_${direction}`,
    [...searchParameters, 'text', ...otherReadings, 'most'],
    `with read as materialized (
     select u.created_at, u.id, coalesce(${isMatch}, false) as is_match
     from {ns}.users u where u.aud = $1 and ${isAfter(direction)} order by ${order} limit $10
   ), page as (
     select u.id from read u where u.is_match order by ${order} offset $4 limit $5
   ), last as (
     select u.created_at, u.id from read u order by ${reverse} limit 1
   ), numbers as (
     select count(*)::integer as read, (count(*) filter (where is_match))::integer as matched,
       (select coalesce(sum(count), 0) from {ns}.user_counts where aud = $1)::bigint as users
     from read
   )
   select ${selectUser('u')}, numbers.*, last.created_at as last_time, last.id as last_id
   from numbers left join last on true left join ${joinPage}
   order by ${order}`,
  ).returning<ReadUserRow>()
}

/**
 * Finds up to `mostFound` users by indexes: texts by trigrams, phone numbers by groups of three
 * digits, IDs by the primary key.
 */
function toFindStatement(direction: SortDirection) {
  const { order } = sortOrders[direction]
  const rest = `u.aud = $1 and ${isAfter(direction)} limit ${mostFound + 1}`
  return statement(
    `find_users_${direction}`,
    [...searchParameters, 'pattern', ...otherReadings],
    `with index as materialized (
     select to_regclass('{ns}.users_search') is not null as is_there
   ), matching as materialized (
     (select u.id, u.created_at from {ns}.users u
       where (select is_there from index) and (u.email ilike $6 or ${fullName} ilike $6) and ${rest})
     union
     (select u.id, u.created_at from {ns}.users u
       where u.phone is not null and {ns}.phone_parts(u.phone) @> {ns}.phone_parts($7::text)
         and ${isPhone} and ${rest})
     union
     (select u.id, u.created_at from {ns}.users u where ${isId} and ${rest})
   ), page as (
     select u.id from matching u order by ${order} offset $4 limit $5
   ), numbers as (
     select case when is_there then (select count(*) from matching)::integer end as matched from index
   )
   select ${selectUser('u')}, numbers.matched from numbers left join ${joinPage}
   order by ${order}`,
  ).returning<FoundUserRow>()
}

const inBoth = <Made extends Statement>(toStatement: (direction: SortDirection) => Made) => ({
  asc: toStatement('asc'),
  desc: toStatement('desc'),
})

export const listUsers = inBoth(toPageStatement)
export const listUsersAfter = inBoth(toCursorStatement)
export const readUsers = inBoth(toReadStatement)
export const findUsers = inBoth(toFindStatement)
