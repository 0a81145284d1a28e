import { type Statement, statement } from './statement.ts'
import { selectUser, type UserRow } from './user-row.ts'

export type SortDirection = 'asc' | 'desc'

/** How a page is searched for: not at all, with the index of trigrams, or by reading everything. */
export type UserSearch = 'none' | 'pattern' | 'fragment'

type Counted = { readonly total: number }

/** Without an id: the page is empty, and this row only tells the total. */
export type UserPageRow = (UserRow & Counted) | (Counted & { readonly id: null })

const fullName = "u.raw_user_meta_data ->> 'full_name'"

/** With the parameter that is a pattern of `ilike`, or what is looked for itself. */
const conditions: Readonly<Record<UserSearch, (wanted: string) => string>> = {
  none: () => 'u.aud = $1',
  pattern: (wanted) => `u.aud = $1 and (u.email ilike ${wanted} or ${fullName} ilike ${wanted})`,
  // Too short to have a trigram: the index would have to be read as a whole. No index knows strpos.
  fragment: (wanted) => `u.aud = $1 and (strpos(lower(u.email), lower(${wanted})) > 0
         or strpos(lower(${fullName}), lower(${wanted})) > 0)`,
}

const directions = {
  asc: { order: 'u.created_at, u.id', reverse: 'u.created_at desc, u.id desc', after: '>' },
  desc: { order: 'u.created_at desc, u.id desc', reverse: 'u.created_at, u.id', after: '<' },
} as const

/**
 * The index is read from the end that is nearer, so that the last page costs as little as the first.
 * A limit of 0 reads nothing.
 */
function toWholePages(direction: SortDirection): string {
  const { order, reverse } = directions[direction]
  return `with total as materialized (
     select coalesce(sum(count), 0)::bigint as total from {ns}.user_counts where aud = $1
   ), near as (
     select u.id from {ns}.users u where u.aud = $1 order by ${order}
     -- As a query, which the planner cannot look into: it would plan every page anew for its number,
     -- and that takes as long as to read one.
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

/** One look at the users finds the page and counts them. */
function toSearchedPages(search: UserSearch, direction: SortDirection): string {
  const { order } = directions[direction]
  return `with matching as materialized (
     select u.id, u.created_at from {ns}.users u where ${conditions[search]('$4')}
   ), total as (
     select count(*) as total from matching
   ), page as (
     select u.id from matching u order by ${order} offset $2 limit $3
   )`
}

/** A page by its number. $1 audience, $2 offset, $3 limit, $4 what is searched for. */
function toPageStatement(search: UserSearch, direction: SortDirection): Statement {
  const page = search === 'none' ? toWholePages(direction) : toSearchedPages(search, direction)
  return statement(
    `list_users_${search}_${direction}`,
    `${page}
   select ${selectUser('u')}, total.total
   -- By an array, which PostgreSQL takes for a short one: it cannot know how short the page is, and
   -- would read all users to join them, and compile the statement besides.
   from total left join (unnest(array(select id from page)) as listed(id)
     cross join lateral (select * from {ns}.users x where x.id = listed.id limit 1) u) on true
   order by ${directions[direction].order}`,
  )
}

/**
 * The users behind one of them. $1 audience, $2 time and $3 id of that one, or nulls for the first
 * page, $4 limit, $5 what is searched for.
 */
function toCursorStatement(search: UserSearch, direction: SortDirection): Statement {
  const { order, after } = directions[direction]
  const first = direction === 'asc' ? "'-infinity'" : "'infinity'"
  const nobody = '00000000-0000-0000-0000-000000000000'
  return statement(
    `list_users_after_${search}_${direction}`,
    `select ${selectUser('u')} from {ns}.users u
   where ${conditions[search]('$5')}
     and (u.created_at, u.id) ${after} (coalesce($2::timestamptz, ${first}),
       coalesce($3::uuid, '${nobody}'))
   order by ${order} limit $4`,
  )
}

type ByDirection = Readonly<Record<SortDirection, Statement>>
type BySearch = Readonly<Record<UserSearch, ByDirection>>

function forEach(
  toStatement: (search: UserSearch, direction: SortDirection) => Statement,
): BySearch {
  const both = (search: UserSearch) => ({
    asc: toStatement(search, 'asc'),
    desc: toStatement(search, 'desc'),
  })
  return { none: both('none'), pattern: both('pattern'), fragment: both('fragment') }
}

export const listUsers = forEach(toPageStatement)
export const listUsersAfter = forEach(toCursorStatement)
