import { type Statement, statement } from '../../../db/statement.ts'
import { selectUser, type UserRow } from '../../users/statements/user-row.ts'
import { fullName, joinPage, type SortDirection } from './list-users.ts'

/** How users are sorted by a column. */
interface UserOrder {
  /** The value of user `u` by which the users are sorted. */
  readonly value: string
  readonly type: 'timestamptz' | 'text'
  readonly isNullable?: boolean
}

const hasFactor = `exists (select from {ns}.mfa_factors f
       where f.user_id = u.id and f.status = 'verified')`
const isConfirmed = '(u.email_confirmed_at is not null or u.phone_confirmed_at is not null)'
/** $2: the current time. */
const isBanned = 'coalesce(u.banned_until > $2::timestamptz, false)'

const status = `case when u.deleted_at is not null then 'deleted'
       when ${isBanned} then 'banned' when u.is_anonymous then 'anonymous'
       when ${isConfirmed} then 'confirmed' when u.invited_at is not null then 'invited'
       else 'unconfirmed' end`

const orders = {
  created_at: { value: 'u.created_at', type: 'timestamptz' },
  updated_at: { value: 'u.updated_at', type: 'timestamptz' },
  last_sign_in_at: { value: 'u.last_sign_in_at', type: 'timestamptz', isNullable: true },
  email: { value: "nullif(u.email, '')", type: 'text', isNullable: true },
  phone: { value: "nullif(u.phone, '')", type: 'text', isNullable: true },
  full_name: { value: `nullif(lower(${fullName}), '')`, type: 'text', isNullable: true },
  id: { value: 'u.id::text', type: 'text' },
  role: { value: 'u.role', type: 'text' },
  provider: { value: "u.raw_app_meta_data ->> 'provider'", type: 'text', isNullable: true },
  second_factor: { value: `case when ${hasFactor} then 'yes' else 'no' end`, type: 'text' },
  status: { value: status, type: 'text' },
} as const satisfies Readonly<Record<string, UserOrder>>

export type UserOrderName = keyof typeof orders

export const userOrders: Readonly<Record<UserOrderName, UserOrder>> = orders

/** Null for a filter that does not apply. */
export interface UserFilters {
  readonly text: string | null
  readonly digits: string | null
  readonly firstId: string | null
  readonly lastId: string | null
  readonly confirmed: boolean | null
  readonly banned: boolean | null
  readonly anonymous: boolean | null
  readonly secondFactor: boolean | null
  readonly signedIn: boolean | null
  readonly provider: string | null
  readonly createdAfter: string | null
  readonly createdBefore: string | null
  readonly lastSignInAfter: string | null
  readonly lastSignInBefore: string | null
}

const filterNames = [
  'text',
  'digits',
  'firstId',
  'lastId',
  'confirmed',
  'banned',
  'anonymous',
  'secondFactor',
  'signedIn',
  'provider',
  'createdAfter',
  'createdBefore',
  'lastSignInAfter',
  'lastSignInBefore',
] as const satisfies readonly (keyof UserFilters)[]

const parameters = ['audience', 'now', ...filterNames] as const

/** The number of the first parameter after those above. */
const firstOfPage = parameters.length + 1

const hasText = (text: string) => `strpos(lower(${text}), (select lower($3::text))) > 0`

/** Does not use the trigram index, because a filter reads all users anyway. */
const isMatch = `($3::text is null or coalesce(${hasText('u.email')} or ${hasText(fullName)}
       or strpos(u.phone, $4::text) > 0 or u.id between $5::uuid and $6::uuid, false))`

/** Which users a statement reads: those with an identity of one provider, or all. */
export type UserScope = 'all' | 'provider'

/**
 * A provider has its own statements: below an `or`, PostgreSQL looks up the identities of each user,
 * which takes four times as long as a join.
 */
const scopes: Readonly<Record<UserScope, string>> = {
  all: '$12::text is null',
  provider: `exists (select from {ns}.identities i
       where i.user_id = u.id and i.provider = $12::text)`,
}

/** The comparisons with `coalesce` can use the index of creation times in a generic plan. */
const toConditions = (scope: UserScope) => `u.aud = $1
     and u.created_at >= coalesce($13::timestamptz, '-infinity')
     and u.created_at < coalesce($14::timestamptz, 'infinity')
     and ($7::boolean is null or ${isConfirmed} = $7)
     and ($8::boolean is null or ${isBanned} = $8)
     and ($9::boolean is null or u.is_anonymous = $9)
     and ($11::boolean is null or (u.last_sign_in_at is not null) = $11)
     and ($15::timestamptz is null or u.last_sign_in_at >= $15)
     and ($16::timestamptz is null or u.last_sign_in_at < $16)
     and ($10::boolean is null or ${hasFactor} = $10)
     and ${scopes[scope]} and ${isMatch}`

/** Where each direction begins: before all keys. */
export const firstKeys = {
  timestamptz: { asc: '-infinity', desc: 'infinity' },
  text: { asc: '', desc: '\u{10ffff}' },
} as const satisfies Readonly<Record<UserOrder['type'], Readonly<Record<SortDirection, string>>>>

/** Users without a value come last in both directions. */
function toKey({ value, type, isNullable = false }: UserOrder, direction: SortDirection): string {
  if (type === 'timestamptz') {
    const last = direction === 'asc' ? 'infinity' : '-infinity'
    return isNullable ? `coalesce(${value}, '${last}')` : value
  }
  // chr(1114111) is the last code point of Unicode, which no stored text begins with.
  const last = direction === 'asc' ? 'chr(1114111)' : "''"
  const text = isNullable ? `coalesce(${value}, ${last})` : value
  // Compares bytes, which is several times faster than the rules of a language.
  return `(${text}) collate "C"`
}

type Counted = { readonly total: number }

/** When the page is empty, one row with only the total is returned, and its ID is null. */
type FilteredPageRow = (UserRow & Counted) | (Counted & { readonly id: null })

/** Returns a page by its number. */
function toPageStatement(scope: UserScope, name: UserOrderName, direction: SortDirection) {
  const order = `u.key ${direction}, u.id ${direction}`
  return statement(
    `filter_users_${scope}_${name}_${direction}`,
    [...parameters, 'offset', 'limit'],
    `with matching as materialized (
     select u.id, ${toKey(userOrders[name], direction)} as key from {ns}.users u
     where ${toConditions(scope)}
   ), page as (
     select u.id from matching u order by ${order}
     offset $${firstOfPage}::bigint limit $${firstOfPage + 1}::bigint
   ), numbers as (
     select count(*)::bigint as total from matching
   )
   select ${selectUser('u')}, numbers.total from numbers left join ${joinPage}
   order by listed.place`,
  ).returning<FilteredPageRow>()
}

type Keyed = { readonly key: string }

/** The users after the one with this key and ID. */
function toCursorStatement(scope: UserScope, name: UserOrderName, direction: SortDirection) {
  const userOrder = userOrders[name]
  const key = toKey(userOrder, direction)
  const sign = direction === 'asc' ? '>' : '<'
  const [last, lastId, limit] = [firstOfPage, firstOfPage + 1, firstOfPage + 2]
  return statement(
    `filter_users_after_${scope}_${name}_${direction}`,
    [...parameters, 'key', 'id', 'limit'],
    `with page as (
     select u.id from {ns}.users u
     where ${toConditions(scope)} and (${key}, u.id) ${sign} ($${last}::${userOrder.type}, $${lastId}::uuid)
     order by ${key} ${direction}, u.id ${direction} limit $${limit}::bigint
   )
   select ${selectUser('u')}, (${key})::text as key from (select) one left join ${joinPage}
   where u.id is not null order by listed.place`,
  ).returning<UserRow & Keyed>()
}

/** Creates each statement at its first use, because a server uses few of the many combinations. */
function createTable<Made extends Statement>(
  toStatement: (scope: UserScope, name: UserOrderName, direction: SortDirection) => Made,
) {
  const table = new Map<string, Made>()
  return (scope: UserScope, name: UserOrderName, direction: SortDirection): Made => {
    const key = `${scope} ${name} ${direction}`
    const made = table.get(key) ?? toStatement(scope, name, direction)
    table.set(key, made)
    return made
  }
}

export const getFilterUsers = createTable(toPageStatement)
export const getFilterUsersAfter = createTable(toCursorStatement)
