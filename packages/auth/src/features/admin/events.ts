import { parsePhone } from '../../addresses.ts'
import { nilId } from '../../db/nil-id.ts'
import type { Services } from '../../services.ts'
import { type AuditAction, auditActions } from '../audit/audit.ts'
import type { AuditPosition } from './audit-search.ts'
import { type TailPosition, toTailCursor } from './event-cursors.ts'
import type { AuditRow } from './statements/audit-log.ts'
import { type EventIndex, findEventUsers, listEvents, tailEvents } from './statements/events.ts'

/** Which events are wanted. Undefined values match everything. */
export interface EventFilter {
  readonly userId?: string | undefined
  /** An email address or phone number as a person writes it, or a part of one. */
  readonly name?: string | undefined
  /** In the format in which addresses are stored. */
  readonly address?: string | undefined
  readonly action?: EventAction | undefined
  /** Why a sign-in failed. */
  readonly reason?: string | undefined
  readonly isFailed?: boolean
  /** Whether token refreshes are included, which are most of the entries. */
  readonly hasTokens?: boolean
  readonly from?: string | undefined
}

/** Failed sign-ins are not in the audit log, so their action is not one of its actions. */
export type EventAction = AuditAction | typeof failedAction

const failedAction = 'login_failed'
export const eventActions: readonly string[] = [...Object.keys(auditActions), failedAction]

interface EventPage {
  /** Newest first. */
  readonly events: readonly AuditRow[]
  /** The position of the next page, if there may be one. */
  readonly next: AuditPosition | undefined
  /** Where the live tail begins. */
  readonly latest: string
}

/**
 * How many audit entries one page reads: first a few, which is enough when many match, then as many as take
 * about 50 ms.
 */
const windows = [1_000, 10_000] as const

/**
 * Returns a page of audit entries and failed sign-ins. It reads a bounded number of entries; `next`
 * continues, also when the page is not full.
 */
export async function listEventPage(
  { db }: Pick<Services, 'db'>,
  filter: EventFilter,
  before: AuditPosition,
  size: number,
): Promise<EventPage> {
  const values = await toValues({ db }, filter)
  const statement = listEvents[chooseIndex(filter, values.users)]
  for (const most of windows) {
    const rows = await db.run(statement, { ...values, ...before, limit: size + 1, most })
    const [first] = rows
    if (first === undefined) break
    const found = toEvents(rows)
    const isComplete = first.read < most
    const isFull = found.length > size
    if (!isComplete && !isFull && most !== windows.at(-1)) continue
    const events = found.slice(0, size)
    const last = events.at(-1)
    const { last_time: time, last_id: id } = first
    const end = isFull && last ? { time: last.created_at, id: last.id } : { time, id }
    const hasNext = isFull || !isComplete
    return {
      events,
      next: hasNext && end.time && end.id ? { time: end.time, id: end.id } : undefined,
      latest: toTailCursor({ snapshot: first.snapshot, at: first.at }),
    }
  }
  throw new Error('PostgreSQL returned no row for a page of events')
}

interface EventTail {
  /** Oldest first. */
  readonly events: readonly AuditRow[]
  readonly latest: string
}

/** An entry may be committed this long after its time, in addition to the longest duration of requests. */
const latestMs = 60_000

/**
 * Returns the events that were committed after a position, each of them once, regardless of the order in which
 * transactions commit. Failed sign-ins that share a row are returned again when their count increases.
 */
export async function tailEventsAfter(
  { db, config }: Pick<Services, 'db' | 'config'>,
  filter: EventFilter,
  { snapshot, at, rest }: TailPosition,
  size: number,
): Promise<EventTail> {
  const lateMs = latestMs + 2 * config.api.maxRequestDurationMs
  const rows = await db.run(tailEvents, {
    ...(await toValues({ db }, filter)),
    since: snapshot,
    until: rest?.snapshot ?? null,
    time: rest?.time ?? new Date(Date.parse(at) - lateMs),
    id: rest?.id ?? nilId,
    limit: size + 1,
  })
  const [first] = rows
  if (first === undefined) throw new Error('PostgreSQL returned no row for the tail of events')
  const found = toEvents(rows)
  const events = found.slice(0, size)
  const last = events.at(-1)
  const end = rest ?? { snapshot: first.snapshot, at: first.at }
  const latest =
    found.length > size && last
      ? { snapshot, at, rest: { ...end, time: last.created_at, id: last.id } }
      : { snapshot: end.snapshot, at: end.at }
  return { events, latest: toTailCursor(latest) }
}

/** The values of the filters for both statements. */
async function toValues({ db }: Pick<Services, 'db'>, filter: EventFilter) {
  const { userId, name, address, action, reason, isFailed = false, hasTokens = false } = filter
  const known = name === undefined ? undefined : toStoredName(name)
  const found = known === undefined ? [] : await db.run(findEventUsers, { name: known })
  const users = userId === undefined ? found.map(({ id }) => id) : [userId]
  const isFailure = isFailed || reason !== undefined || action === failedAction
  const audited = action === undefined || action === failedAction ? undefined : action
  return {
    users: users.length === 0 ? null : users,
    name: known ?? null,
    // A name without an account may be a former address, or a part of one.
    text: users.length === 0 ? (known ?? null) : null,
    address: address ?? null,
    action: audited ?? null,
    type: audited === undefined ? null : auditActions[audited],
    reason: reason ?? null,
    hasTokens: hasTokens || (audited !== undefined && auditActions[audited] === 'token'),
    hasAudit: !isFailure,
    hasFailures: audited === undefined,
    from: filter.from ?? '-infinity',
  }
}

/** Phone numbers are stored without a plus and separators, and email addresses in lower case. */
function toStoredName(name: string): string {
  if (!/^\+?[\d\s()./-]+$/.test(name)) return name.toLowerCase()
  const digits = name.replaceAll(/[()./-]/g, '')
  try {
    return parsePhone(digits.replaceAll(/\s/g, ' '))
  } catch {
    return digits.replaceAll(/\D/g, '')
  }
}

/** The index of addresses and the one of actions contain all entries except token refreshes. */
function chooseIndex(
  { address, action, hasTokens = false }: EventFilter,
  users: readonly string[] | null,
): EventIndex {
  if (users !== null) return 'user'
  if (address !== undefined && !hasTokens && !isTokenAction(action)) return 'address'
  return action !== undefined && action !== failedAction && !isTokenAction(action)
    ? 'action'
    : 'time'
}

function isTokenAction(action: EventAction | undefined): boolean {
  return action !== undefined && action !== failedAction && auditActions[action] === 'token'
}

function toEvents(rows: readonly { readonly [Name in keyof AuditRow]: unknown }[]) {
  return rows.flatMap(({ id, payload, ip_address, created_at }) =>
    id === null ? [] : [{ id, payload, ip_address, created_at } as AuditRow],
  )
}
