import { parseTime } from '@portcullis/service-kit/text/time'
import { type Page, toSubstringPattern } from '../../db/statement.ts'
import { badPagination, invalid } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { isStorableText } from '../../stored-json.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import {
  type FoundUserRow,
  findUsers,
  listUsers,
  listUsersAfter,
  mostFound,
  type ReadUserRow,
  readUsers,
  type SortDirection,
} from './statements/list-users.ts'

interface UserList {
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
    `Bad Sort Parameters: sort must be "created_at asc" or "created_at desc". Got "${text}"`,
  )
}

interface UserPage {
  readonly users: readonly UserRecord[]
  readonly total: number
  /** False when the total is an estimate. */
  readonly isExact: boolean
  /** Where to continue a search that stopped before it found a whole page. */
  readonly nextCursor: string | undefined
}

export async function listPage(
  { db }: Pick<Services, 'db'>,
  list: UserList,
  { number, offset, size }: Page,
): Promise<UserPage> {
  if (list.filter !== '') {
    const found = await searchUsers({ db }, list, { number, offset, size, ...start })
    return {
      ...found,
      users: found.users.map(toUserRecord),
      nextCursor: found.isPartial ? toCursor(found.next) : undefined,
    }
  }
  const rows = await db.run(listUsers[list.direction], {
    audience: list.audience,
    offset,
    limit: size,
  })
  const users = rows.flatMap((row) => (row.id === null ? [] : [toUserRecord(row)]))
  return { users, total: rows[0]?.total ?? 0, isExact: true, nextCursor: undefined }
}

interface UserSlice {
  readonly users: readonly UserRecord[]
  /** Undefined when there are no more users. */
  readonly nextCursor: string | undefined
}

/** @throws {ApiError} */
export async function listAfter(
  { db }: Pick<Services, 'db'>,
  list: UserList,
  { cursor, limit }: { readonly cursor: string; readonly limit: number },
): Promise<UserSlice> {
  const position = cursor === '' ? start : parseCursor(cursor)
  if (list.filter !== '') {
    const found = await searchUsers({ db }, list, {
      number: 1,
      offset: 0,
      size: limit,
      ...position,
    })
    return { users: found.users.map(toUserRecord), nextCursor: toCursor(found.next) }
  }
  // One extra row shows whether there are more.
  const more = await db.run(listUsersAfter[list.direction], {
    audience: list.audience,
    ...position,
    limit: limit + 1,
  })
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
  if (createdAt === undefined || id === undefined || parseTime(createdAt) === undefined) {
    throw badPagination('cursor must be the next_cursor of a response')
  }
  return { createdAt, id }
}

/** The user after which a page begins; nulls mean the start. */
interface Position {
  readonly createdAt: string | null
  readonly id: string | null
}

interface FoundUsers {
  readonly users: readonly UserRow[]
  readonly total: number
  /** False when the total is an estimate. */
  readonly isExact: boolean
  /** Whether the search stopped before it found a whole page. */
  readonly isPartial: boolean
  /** Where to continue; undefined when there are no more users. */
  readonly next: Position | undefined
}

/** How many users are read first. That is enough when many match, and it needs no index. */
const fewUsers = 1_000
const manyUsers = 10_000
const mostUsers = 1_000_000

/**
 * Finds users whose address, name or phone number contains a text, or whose ID begins with it. The
 * cost depends neither on the number of users nor on the number of matches: frequent texts are
 * found among the first users, rare texts by the trigram index. For all others, a limited number of
 * users is read, and `next` continues from there.
 */
async function searchUsers(
  { db }: Pick<Services, 'db'>,
  list: {
    readonly audience: string
    readonly filter: string
    readonly direction: SortDirection
  },
  { number, offset, size, createdAt, id }: Page & Position,
): Promise<FoundUsers> {
  const { filter, direction } = list
  if (!isStorableText(filter))
    throw invalid('The filter contains a character that cannot be stored')
  const digits = toDigits(filter)
  const values = {
    ...{ audience: list.audience, createdAt, id, offset, limit: size },
    ...{ digits, ...toIds(filter) },
  }
  const read = async (most: number) => {
    const rows = await db.run(readUsers[direction], { ...values, text: filter, most })
    return toReadUsers(rows, most, offset, size)
  }
  const first = await read(fewUsers)
  if (!first.isPartial) return first
  // The index contains trigrams, so a word needs at least three characters.
  if (digits !== null || /[\p{L}\p{N}]{3}/u.test(filter)) {
    const pattern = toSubstringPattern(filter)
    const rows = await db.run(findUsers[direction], { ...values, pattern })
    const matched = rows[0]?.matched ?? null
    if (matched !== null && matched <= mostFound) return toFoundUsers(rows, matched, offset, size)
  }
  return await read(Math.min(manyUsers * number, mostUsers))
}

/**
 * Part of a phone number in the stored format: `+1 (555) 01` becomes `155501`. Null for other
 * texts.
 */
export function toDigits(filter: string): string | null {
  if (!/^\+?[\d\s()./-]+$/.test(filter)) return null
  const digits = filter.replaceAll(/\D/g, '')
  return digits.length >= 3 ? digits : null
}

/**
 * The first and the last ID that begin with a text of at least eight characters. Nulls for other
 * texts.
 */
export function toIds(filter: string) {
  const isStart = /^[\da-f]{8}(?:-[\da-f]{0,4}){0,3}(?:-[\da-f]{0,12})?$/i.test(filter)
  const hex = filter.replaceAll('-', '')
  if (!isStart || hex.length > 32) return { firstId: null, lastId: null }
  return { firstId: hex.padEnd(32, '0'), lastId: hex.padEnd(32, 'f') }
}

function toReadUsers(
  rows: readonly ReadUserRow[],
  most: number,
  offset: number,
  size: number,
): FoundUsers {
  const users = toUsers(rows)
  const [numbers] = rows
  const { read = 0, matched = 0, users: all = 0 } = numbers ?? {}
  const isExact = read < most
  const isFull = users.length === size
  const last = { createdAt: numbers?.last_time ?? null, id: numbers?.last_id ?? null }
  const hasMore = !isExact || matched > offset + size
  return {
    users,
    total: isExact ? matched : Math.max(matched + 1, Math.round((matched / read) * all)),
    isExact,
    isPartial: !isExact && !isFull,
    next: hasMore ? (isFull ? toPosition(users.at(-1)) : last) : undefined,
  }
}

function toFoundUsers(
  rows: readonly FoundUserRow[],
  matched: number,
  offset: number,
  size: number,
): FoundUsers {
  const users = toUsers(rows)
  const next = matched > offset + size ? toPosition(users.at(-1)) : undefined
  return { users, total: matched, isExact: true, isPartial: false, next }
}

function toUsers(rows: readonly (ReadUserRow | FoundUserRow)[]): readonly UserRow[] {
  return rows.flatMap((row) => (row.id === null ? [] : [row]))
}

function toPosition(user: UserRow | undefined): Position | undefined {
  return user && { createdAt: user.created_at, id: user.id }
}
