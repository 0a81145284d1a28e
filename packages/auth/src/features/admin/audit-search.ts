import { parseTime } from '@portcullis/service-kit/text/time'
import { nilId } from '../../db/nil-id.ts'
import { type Page, toSubstringPattern } from '../../db/statement.ts'
import { badPagination } from '../../errors.ts'
import type { Services } from '../../services.ts'
import { auditActions } from '../audit/audit.ts'
import { stepSeconds } from '../audit/sign-in-log.ts'
import {
  listSignInCounts,
  listSignInFailures,
  listUserSignInFailures,
  type SignInFailureRow,
} from '../audit/statements.ts'
import {
  type AuditPageRow,
  type AuditRow,
  type AuditSearchStatement,
  type AuditWindowRow,
  type AuditWindowStatement,
  exactlyCounted,
  exactlyMatched,
  listAuditEntries,
  listAuditEntriesByKind,
  listUserAuditEntries,
  readAuditEntries,
} from './statements/audit-log.ts'

export interface AuditSearch {
  readonly scope: 'author' | 'action' | 'type' | 'user'
  /** Part of a text, or the ID of a user. */
  readonly text: string
}

/**
 * The entry after which a page begins. Requests send it as a time such as `2026-03-04T00:00:00Z`,
 * optionally followed by `_` and the ID of an entry.
 */
export interface AuditPosition {
  readonly time: string
  readonly id: string
}

interface AuditPage {
  readonly entries: readonly AuditRow[]
  readonly total: number
  /** False when the total is an estimate, or only a lower bound. */
  readonly isExact: boolean
  /** The next page, if there may be one. */
  readonly next: { readonly page: number } | { readonly before: string } | undefined
}

const newest: AuditPosition = { time: 'infinity', id: nilId }

/** A larger offset is refused, because paging by time is faster. */
const mostSkipped = 100_000
/**
 * How many entries a search without an index reads: first a few, which is enough when many match,
 * then as many as take about 50 ms. Later pages read more.
 */
const windows = [1_000, 10_000] as const
const largestWindow = 1_000_000

/** @throws {ApiError} */
export function parseBefore(text: string): AuditPosition {
  const [, time, id = nilId] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d))(?:_([\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}))?$/i.exec(
      text,
    ) ?? []
  if (time !== undefined && parseTime(time) !== undefined) return { time, id }
  throw badPagination(`before must be a time such as 2026-03-04T00:00:00Z. Got "${text}"`)
}

/**
 * Returns a page of the audit log. The cost does not depend on the size of the log: either an index
 * is used, or a limited number of entries is read and `next` continues from there.
 * @throws {ApiError}
 */
export async function searchAudit(
  { db }: Pick<Services, 'db'>,
  search: AuditSearch | undefined,
  page: Page,
  before: AuditPosition = newest,
): Promise<AuditPage> {
  if (search === undefined) {
    const list: PageReader = (values) => db.run(listAuditEntries, values)
    return await readPage(list, page, before, exactlyCounted)
  }
  const { scope, text } = search
  const find = (statement: AuditSearchStatement, match: string) => {
    const list: PageReader = (values) => db.run(statement, { ...values, match })
    return readPage(list, page, before, exactlyMatched)
  }
  if (scope === 'user') return await find(listUserAuditEntries, text)
  if (scope !== 'author' && !mayMatchRefreshes(scope, text)) {
    return await find(listAuditEntriesByKind[scope], toSubstringPattern(text))
  }
  return await readWindow({ db }, readAuditEntries[scope], page, before, text)
}

/** Whether token refreshes may match. The index of types and actions does not contain them. */
function mayMatchRefreshes(scope: 'action' | 'type', text: string): boolean {
  const wanted = text.toLowerCase()
  return Object.entries(auditActions).some(
    ([action, type]) => type === 'token' && { action, type }[scope].includes(wanted),
  )
}

type PageReader = (
  values: AuditPosition & { readonly offset: number; readonly limit: number },
) => Promise<readonly AuditPageRow[]>

/** @param mostExact the number up to which the total is exact. */
async function readPage(
  read: PageReader,
  page: Page,
  before: AuditPosition,
  mostExact: number,
): Promise<AuditPage> {
  const { offset, size, number } = page
  const isTooFar = offset > mostSkipped
  const limit = isTooFar ? 0 : size + 1
  const rows = await read({ offset: isTooFar ? 0 : offset, limit, ...before })
  const total = rows[0]?.total ?? 0
  if (isTooFar && total > offset) {
    throw badPagination(
      `page and per_page may skip at most ${mostSkipped} entries; use before=TIME to read older ones`,
    )
  }
  const entries = toEntries(rows)
  const next = entries.length > size ? { page: number + 1 } : undefined
  return { entries: entries.slice(0, size), total, isExact: total <= mostExact, next }
}

async function readWindow(
  { db }: Pick<Services, 'db'>,
  statement: AuditWindowStatement,
  { offset, size, number }: Page,
  before: AuditPosition,
  text: string,
): Promise<AuditPage> {
  for (const window of windows) {
    const isLast = window === windows.at(-1)
    const most = Math.min(window * (isLast ? number : 1), largestWindow)
    const rows = await db.run(statement, { offset, limit: size, ...before, text, most })
    const [{ read = 0, matched = 0, last_time: time, last_id: id } = {}] = rows
    const entries = toEntries(rows)
    const isComplete = read < most
    const isFull = entries.length === size
    if (!isComplete && !isFull && !isLast) continue
    const last = isFull ? entries.at(-1) : undefined
    const more = matched > offset + size || !isComplete
    const end = last ? { time: last.created_at, id: last.id } : { time, id }
    return {
      entries,
      total: isComplete ? matched : matched + 1,
      isExact: isComplete,
      next: more && end.time && end.id ? { before: `${end.time}_${end.id}` } : undefined,
    }
  }
  return { entries: [], total: 0, isExact: true, next: undefined }
}

function toEntries(rows: readonly (AuditPageRow | AuditWindowRow)[]): readonly AuditRow[] {
  return rows.flatMap(({ id, payload, ip_address, created_at }) =>
    id === null || payload === null || ip_address === null || created_at === null
      ? []
      : [{ id, payload, ip_address, created_at }],
  )
}

const dayMs = 86_400_000

/**
 * Counts the sign-ins of the last day.
 * @param sinceMs only sign-ins after this time are counted. Default: the whole day.
 */
export async function countSignIns({ db, now, startedAt }: Services, sinceMs = 0) {
  const first = new Date(Math.max(sinceMs, now() - dayMs))
  return {
    started_at: new Date(startedAt).toISOString(),
    now: new Date(now()).toISOString(),
    step_seconds: stepSeconds,
    counts: await db.run(listSignInCounts, { first }),
  }
}

/** @param userId if given, only the failures of this user are returned. */
export async function findSignInFailures(
  { db }: Services,
  { offset, size }: Page,
  userId?: string,
): Promise<readonly SignInFailureRow[]> {
  return userId === undefined
    ? await db.run(listSignInFailures, { offset, limit: size })
    : await db.run(listUserSignInFailures, { offset, limit: size, userId })
}
