import { type Statement, statement } from '../../../db/statement.ts'
import { selectUser, type UserRow } from '../../users/statements/user-row.ts'

export type SortDirection = 'asc' | 'desc'

type Counted = { readonly total: number }

/** Without an id: the page is empty, and this row only has the total. */
export type UserPageRow = (UserRow & Counted) | (Counted & { readonly id: null })

const directions = {
  asc: { order: 'u.created_at, u.id', reverse: 'u.created_at desc, u.id desc' },
  desc: { order: 'u.created_at desc, u.id desc', reverse: 'u.created_at, u.id' },
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

/** A page by its number. $1 audience, $2 offset, $3 limit. */
function toPageStatement(direction: SortDirection): Statement {
  return statement(
    `list_users_${direction}`,
    `${toWholePages(direction)}
   select ${selectUser('u')}, total.total
   -- By an array, which PostgreSQL takes for a short one: it cannot know how short the page is, and
   -- would read all users to join them, and compile the statement besides.
   from total left join (unnest(array(select id from page)) as listed(id)
     cross join lateral (select * from {ns}.users x where x.id = listed.id limit 1) u) on true
   order by ${directions[direction].order}`,
  )
}

/** The users behind one of them. $1 audience, $2 time and $3 id of that one, or nulls, $4 limit. */
function toCursorStatement(direction: SortDirection): Statement {
  return statement(
    `list_users_after_${direction}`,
    `select ${selectUser('u')} from {ns}.users u
   where u.aud = $1 and ${isAfter(direction)}
   order by ${directions[direction].order} limit $4`,
  )
}

/** $2 is the time and $3 the id of a user to begin behind; null for the first page. */
export function isAfter(direction: SortDirection): string {
  const [sign, first] = direction === 'asc' ? ['>', "'-infinity'"] : ['<', "'infinity'"]
  const nobody = '00000000-0000-0000-0000-000000000000'
  return `(u.created_at, u.id) ${sign} (coalesce($2::timestamptz, ${first}),
       coalesce($3::uuid, '${nobody}'))`
}

export const listUsers = { asc: toPageStatement('asc'), desc: toPageStatement('desc') } as const

export const listUsersAfter = {
  asc: toCursorStatement('asc'),
  desc: toCursorStatement('desc'),
} as const
