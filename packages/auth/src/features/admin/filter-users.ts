import { parseTime } from '@portcullis/service-kit/text/time'
import { nilId } from '../../db/nil-id.ts'
import type { Page } from '../../db/statement.ts'
import { badPagination, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { isStorableText } from '../../stored-json.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import { toDigits, toIds } from './list-users.ts'
import {
  firstKeys,
  getFilterUsers,
  getFilterUsersAfter,
  type UserFilters,
  type UserOrderName,
  type UserScope,
  userOrders,
} from './statements/filter-users.ts'
import type { SortDirection } from './statements/list-users.ts'

type Query = Readonly<Record<string, string | undefined>>

/** The query parameters that select and sort users, in addition to `filter` and `sort`. */
export const filterParameters = {
  confirmed: 'true or false: whether an email address or phone number is confirmed',
  banned: 'true or false: whether the user is banned now',
  anonymous: 'true or false: whether the user is anonymous',
  second_factor: 'true or false: whether the user has a verified second factor',
  signed_in: 'true or false: whether the user has ever signed in',
  provider: 'Users with an identity of this provider, such as email, phone or google',
  created_after: 'Users created at or after this time, such as 2026-03-04 or 2026-03-04T10:00:00Z',
  created_before: 'Users created before this time',
  last_sign_in_after: 'Users who last signed in at or after this time',
  last_sign_in_before: 'Users who last signed in before this time',
  order_by: `Instead of sort: ${Object.keys(userOrders).join(', ')}, followed by asc (the default) or desc. Users without a value come last`,
} as const

export interface UserSelection {
  readonly filters: UserFilters
  readonly orderBy: UserOrderName
  readonly direction: SortDirection
}

/**
 * Reads the parameters above. Undefined if the request has none of them. Empty values count as
 * omitted.
 * @throws {ApiError}
 */
export function parseSelection(query: Query): UserSelection | undefined {
  if (!Object.keys(filterParameters).some((name) => query[name])) return undefined
  const { filter = '' } = query
  if (!isStorableText(filter)) {
    throw invalid('The filter contains a character that cannot be stored')
  }
  const ids = filter === '' ? { firstId: null, lastId: null } : toIds(filter)
  return {
    filters: {
      text: filter === '' ? null : filter,
      digits: filter === '' ? null : toDigits(filter),
      ...ids,
      confirmed: parseFlag(query, 'confirmed'),
      banned: parseFlag(query, 'banned'),
      anonymous: parseFlag(query, 'anonymous'),
      secondFactor: parseFlag(query, 'second_factor'),
      signedIn: parseFlag(query, 'signed_in'),
      provider: parseProvider(query['provider'] || null),
      createdAfter: parseTimeFilter(query, 'created_after'),
      createdBefore: parseTimeFilter(query, 'created_before'),
      lastSignInAfter: parseTimeFilter(query, 'last_sign_in_after'),
      lastSignInBefore: parseTimeFilter(query, 'last_sign_in_before'),
    },
    ...parseOrder(query),
  }
}

function badFilter(detail: string): Error {
  return invalid(`Bad Filter Parameters: ${detail}`)
}

function parseFlag(query: Query, name: keyof typeof filterParameters): boolean | null {
  const text = query[name] || null
  if (text === null) return null
  if (text === 'true' || text === 'false') return text === 'true'
  throw badFilter(`${name} must be true or false. Got "${text}"`)
}

function parseProvider(text: string | null): string | null {
  if (text === null || /^[\w.:-]{1,64}$/.test(text)) return text
  throw badFilter(
    `provider must be the name of a provider, such as email, phone or google. Got "${text}"`,
  )
}

function parseTimeFilter(query: Query, name: keyof typeof filterParameters): string | null {
  const text = query[name] || null
  if (text === null) return null
  const ms = parseTime(text)
  // Converted, because PostgreSQL reads a date without a time as midnight in its own time zone.
  if (ms !== undefined) return text.includes('.') ? text : new Date(ms).toISOString()
  throw badFilter(
    `${name} must be a date such as 2026-03-04 (UTC) or a time such as 2026-03-04T10:00:00Z. Got "${text}"`,
  )
}

function parseOrder(query: Query): Omit<UserSelection, 'filters'> {
  const { sort, order_by: text = '' } = query
  if (text === '') {
    const isAscending = /\basc$/i.test((sort ?? '').trim())
    return { orderBy: 'created_at', direction: isAscending ? 'asc' : 'desc' }
  }
  if (sort) throw badFilter('sort and order_by cannot be combined')
  const [name = '', direction = 'asc', ...more] = text.trim().toLowerCase().split(/\s+/)
  const isDirection = direction === 'asc' || direction === 'desc'
  if (isOrderName(name) && isDirection && more.length === 0) return { orderBy: name, direction }
  throw badFilter(
    `order_by must be one of ${Object.keys(userOrders).join(', ')}, followed by asc or desc. Got "${text}"`,
  )
}

function isOrderName(name: string): name is UserOrderName {
  return Object.hasOwn(userOrders, name)
}

interface Selected extends UserSelection {
  readonly audience: string
}

function toScope({ provider }: UserFilters): UserScope {
  return provider === null ? 'all' : 'provider'
}

/** Returns a page of the selected users, and their number. */
export async function listSelectedPage(
  { db, now }: Pick<Services, 'db' | 'now'>,
  { audience, filters, orderBy, direction }: Selected,
  { offset, size }: Page,
): Promise<{ readonly users: readonly UserRecord[]; readonly total: number }> {
  const rows = await db.run(getFilterUsers(toScope(filters), orderBy, direction), {
    ...{ audience, now: new Date(now()), ...filters },
    ...{ offset, limit: size },
  })
  const users = rows.flatMap((row) => (row.id === null ? [] : [toUserRecord(row)]))
  return { users, total: rows[0]?.total ?? 0 }
}

/** Returns the selected users after a cursor. @throws {ApiError} */
export async function listSelectedAfter(
  { db, now }: Pick<Services, 'db' | 'now'>,
  { audience, filters, orderBy, direction }: Selected,
  { cursor, limit }: { readonly cursor: string; readonly limit: number },
): Promise<{ readonly users: readonly UserRecord[]; readonly nextCursor: string | undefined }> {
  const order = `${orderBy} ${direction}`
  const position = cursor === '' ? toStart(orderBy, direction) : parseCursor(cursor, orderBy, order)
  // One extra row shows whether there are more.
  const more = await db.run(getFilterUsersAfter(toScope(filters), orderBy, direction), {
    ...{ audience, now: new Date(now()), ...filters },
    ...{ ...position, limit: limit + 1 },
  })
  const rows = more.slice(0, limit)
  const last = more.length > limit ? rows.at(-1) : undefined
  return {
    users: rows.map(toUserRecord),
    nextCursor: last && toCursor(order, { key: last.key, id: last.id }),
  }
}

/** The user after which a page begins. */
interface KeyPosition {
  readonly key: string
  readonly id: string
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function toStart(orderBy: UserOrderName, direction: SortDirection): KeyPosition {
  const key = firstKeys[userOrders[orderBy].type][direction]
  return { key, id: direction === 'asc' ? nilId : lastId }
}

function toCursor(order: string, { key, id }: KeyPosition): string {
  return Buffer.from(JSON.stringify([order, key, id])).toString('base64url')
}

function parseCursor(cursor: string, orderBy: UserOrderName, order: string): KeyPosition {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, orderOfCursor, key = '', id = ''] =
    /^\["([a-z_ ]+)",("(?:[^"\\]|\\.)*"),"(.{36})"\]$/.exec(text) ?? []
  const isValid = orderOfCursor === order && uuidPattern.test(id)
  const position = isValid ? { key: parseText(key) ?? '\0', id } : undefined
  if (position && isKey(position.key, orderBy)) return position
  throw badPagination(
    'cursor must be the next_cursor of a response with the same filters and order_by',
  )
}

function parseText(json: string): string | undefined {
  try {
    return String(JSON.parse(json))
  } catch {
    return undefined
  }
}

function isKey(text: string, orderBy: UserOrderName): boolean {
  if (userOrders[orderBy].type === 'text') return isStorableText(text)
  const isTime = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/.test(text)
  return /^-?infinity$/.test(text) || (isTime && !Number.isNaN(Date.parse(text)))
}
