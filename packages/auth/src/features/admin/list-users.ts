import type { Queries } from '../../db/database.ts'
import { invalid } from '../../errors.ts'
import { badPagination, type Page } from '../../http/pagination.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import { type Position, searchUsers } from './search-users.ts'
import {
  listUsers,
  listUsersAfter,
  type SortDirection,
  type UserPageRow,
} from './statements/list-users.ts'

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

export interface UserPage {
  readonly users: readonly UserRecord[]
  readonly total: number
  /** False: the total is an estimate. */
  readonly isExact: boolean
  /** Where a search goes on that has read enough before it found a whole page. */
  readonly nextCursor: string | undefined
}

export async function listPage(
  db: Queries,
  list: UserList,
  { number, offset, size }: Page,
): Promise<UserPage> {
  if (list.filter !== '') {
    const found = await searchUsers(db, list, { number, offset, size, ...start })
    return {
      ...found,
      users: found.users.map(toUserRecord),
      nextCursor: found.isPartial ? toCursor(found.next) : undefined,
    }
  }
  const values = [list.audience, offset, size]
  const rows = await db.run<UserPageRow>(listUsers[list.direction], values)
  const users = rows.flatMap((row) => (row.id === null ? [] : [toUserRecord(row)]))
  return { users, total: rows[0]?.total ?? 0, isExact: true, nextCursor: undefined }
}

export interface UserSlice {
  readonly users: readonly UserRecord[]
  /** Undefined: there are no more. */
  readonly nextCursor: string | undefined
}

/** @throws {ApiError} */
export async function listAfter(
  db: Queries,
  list: UserList,
  { cursor, limit }: { readonly cursor: string; readonly limit: number },
): Promise<UserSlice> {
  const position = cursor === '' ? start : parseCursor(cursor)
  if (list.filter !== '') {
    const found = await searchUsers(db, list, { number: 1, offset: 0, size: limit, ...position })
    return { users: found.users.map(toUserRecord), nextCursor: toCursor(found.next) }
  }
  const { createdAt, id } = position
  // One more tells whether there are more.
  const values = [list.audience, createdAt, id, limit + 1]
  const more = await db.run<UserRow>(listUsersAfter[list.direction], values)
  const rows = more.slice(0, limit)
  const last = more.length > limit ? rows.at(-1) : undefined
  return {
    users: rows.map(toUserRecord),
    nextCursor: toCursor(last && { createdAt: last.created_at, id: last.id }),
  }
}

const start: Position = { createdAt: null, id: null }

function toCursor(position: Position | undefined): string | undefined {
  if (position === undefined) return undefined
  const { createdAt, id } = position
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
