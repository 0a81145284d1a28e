import {
  listUsers,
  listUsersAfter,
  type SortDirection,
  type UserPageRow,
  type UserSearch,
} from '../db/admin-users.ts'
import type { Queries } from '../db/database.ts'
import type { UserRow } from '../db/user-row.ts'
import { invalid } from '../errors.ts'
import { badPagination, type Page, toSubstringPattern } from './pagination.ts'
import { isStorableText } from './storable-json.ts'
import { toUserRecord, type UserRecord } from './user-record.ts'

export interface UserList {
  readonly audience: string
  readonly filter: string
  readonly direction: SortDirection
}

const sorts: ReadonlyMap<string, SortDirection> = new Map([
  ['', 'desc'],
  ['created_at', 'desc'],
  ['created_at asc', 'asc'],
  ['created_at desc', 'desc'],
])

/** @throws {ApiError} */
export function parseSort(text = ''): SortDirection {
  const direction = sorts.get(text.trim().toLowerCase().replaceAll(/\s+/g, ' '))
  if (direction !== undefined) return direction
  throw invalid(
    `Bad Sort Parameters: sort must be "created_at asc" or "created_at desc", and is "${text}"`,
  )
}

interface Search {
  readonly kind: UserSearch
  /** The parameter of the statement, if it has one. */
  readonly values: readonly string[]
}

function toSearch(filter: string): Search {
  if (filter === '') return { kind: 'none', values: [] }
  if (!isStorableText(filter)) throw invalid('The filter has a character that no user can have')
  // Three characters of a word make a trigram, which is what the index knows.
  const isIndexed = /[\p{L}\p{N}]{3}/u.test(filter)
  return isIndexed
    ? { kind: 'pattern', values: [toSubstringPattern(filter)] }
    : { kind: 'fragment', values: [filter] }
}

export interface UserPage {
  readonly users: readonly UserRecord[]
  readonly total: number
}

export async function listPage(
  db: Queries,
  { audience, filter, direction }: UserList,
  { offset, size }: Page,
): Promise<UserPage> {
  const { kind, values } = toSearch(filter)
  const statement = listUsers[kind][direction]
  const rows = await db.run<UserPageRow>(statement, [audience, offset, size, ...values])
  const users = rows.flatMap((row) => (row.id === null ? [] : [toUserRecord(row)]))
  return { users, total: rows[0]?.total ?? 0 }
}

export interface UserSlice {
  readonly users: readonly UserRecord[]
  /** Undefined: there are no more. */
  readonly nextCursor: string | undefined
}

/** @throws {ApiError} */
export async function listAfter(
  db: Queries,
  { audience, filter, direction }: UserList,
  { cursor, limit }: { readonly cursor: string; readonly limit: number },
): Promise<UserSlice> {
  const { kind, values } = toSearch(filter)
  const { createdAt, id } = cursor === '' ? start : parseCursor(cursor)
  const statement = listUsersAfter[kind][direction]
  // One more tells whether there are more.
  const more = await db.run<UserRow>(statement, [audience, createdAt, id, limit + 1, ...values])
  const rows = more.slice(0, limit)
  const last = more.length > limit ? rows.at(-1) : undefined
  return {
    users: rows.map(toUserRecord),
    nextCursor: last && toCursor({ createdAt: last.created_at, id: last.id }),
  }
}

/** The user that a slice begins behind. */
interface Position {
  readonly createdAt: string | null
  readonly id: string | null
}

const start: Position = { createdAt: null, id: null }

function toCursor({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url')
}

function parseCursor(cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, createdAt, id] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z) ([\da-f-]{36})$/.exec(text) ?? []
  if (createdAt === undefined || id === undefined || Number.isNaN(Date.parse(createdAt))) {
    throw badPagination('cursor must be the next_cursor of an answer')
  }
  return { createdAt, id }
}
