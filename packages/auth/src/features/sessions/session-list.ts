import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Json } from '../../stored-json.ts'
import { type AuditEntry, toAdminEntry } from '../audit/audit.ts'
import { toLimitValues } from './statements/session-limits.ts'
import {
  endManySessions,
  endSession,
  type ListedSession,
  listSessions,
} from './statements/session-list.ts'
import { revokeByScope } from './statements/sessions.ts'

export type SessionRecord = Readonly<Record<string, Json>>

/** Lists the sessions of a user. @param currentId the session of the request, if it has one. */
export async function findSessions(
  { db, now, config }: Services,
  userId: string,
  currentId: string | null,
): Promise<readonly SessionRecord[]> {
  const limits = toLimitValues(config.tokens.sessions, now())
  const rows = await db.run(listSessions, { userId, ...limits })
  return rows.map((row) => toSessionRecord(row, currentId))
}

function toSessionRecord(row: ListedSession, currentId: string | null): SessionRecord {
  return {
    id: row.id,
    is_current: row.id === currentId,
    device: toDeviceName(row.user_agent ?? ''),
    user_agent: row.user_agent ?? '',
    ip: row.ip ?? '',
    aal: row.aal,
    amr: row.amr,
    created_at: row.created_at,
    last_used_at: row.refreshed_at ?? row.created_at,
    ...(row.tag !== null && { tag: row.tag }),
    ...(row.not_after !== null && { not_after: row.not_after }),
  }
}

/** The first match wins, because most browsers also name other browsers. */
const programs: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?(?:iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^(?:node|undici)\b/i, 'Node.js'],
  [/^Dart\//, 'a Dart app'],
  [/\bokhttp\//i, 'an Android app'],
  [/\bCFNetwork\//, 'an Apple app'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b|\bDarwin\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/**
 * A readable name such as `Firefox on Windows`. It is only a hint: clients can send any user agent.
 */
export function toDeviceName(userAgent: string): string {
  const program = findName(programs, userAgent)
  const system = findName(systems, userAgent)
  if (program !== undefined && system !== undefined) return `${program} on ${system}`
  return program ?? system ?? 'Unknown device'
}

function findName(
  table: readonly (readonly [RegExp, string])[],
  userAgent: string,
): string | undefined {
  return table.find(([pattern]) => pattern.test(userAgent))?.[1]
}

interface Logout {
  readonly userId: string
  /** The session of the request; null when it has none. */
  readonly sessionId: string | null
  /** All sessions of the user, the one of the request, or all others. */
  readonly scope: 'global' | 'local' | 'others'
  readonly entry: AuditEntry
  readonly ip: string
}

export async function logOut(
  { db, now }: Pick<Services, 'db' | 'now'>,
  { entry, ...logout }: Logout,
): Promise<void> {
  await db.run(revokeByScope, {
    ...logout,
    now: new Date(now()),
    auditId: entry.id,
    auditPayload: entry.payload,
  })
}

interface SessionEnd {
  readonly userId: string
  readonly sessionId: string
  readonly entry: AuditEntry
  readonly ip: string
}

/** @throws {ApiError} */
export async function closeSession(
  { db, now }: Pick<Services, 'db' | 'now'>,
  end: SessionEnd,
): Promise<void> {
  const { userId, sessionId, entry, ip } = end
  const [ended] = await db.run(endSession, {
    userId,
    sessionId,
    now: new Date(now()),
    auditId: entry.id,
    auditPayload: entry.payload,
    ip,
  })
  if (ended === undefined) {
    throw new ApiError('session_not_found', 'Session not found', { status: 404 })
  }
}

interface MassRevocation {
  /** Sessions that were opened later are kept. */
  readonly beforeMs: number
  /** Where to continue; undefined at the start. */
  readonly after: string | undefined
  readonly adminRole: string
  readonly ip: string
}

interface Revoked {
  readonly count: number
  /** Where the next call continues; undefined when all sessions are revoked. */
  readonly after: string | undefined
}

const atOnce = 2_000

/**
 * Revokes sessions of all users in batches while `hasTime` returns true. A batch holds locks for
 * milliseconds.
 */
export async function revokeAllSessions(
  { db, now }: Pick<Services, 'db' | 'now'>,
  { beforeMs, after: start, adminRole, ip }: MassRevocation,
  hasTime: () => boolean,
): Promise<Revoked> {
  const before = new Date(beforeMs)
  let after = start
  let count = 0
  do {
    const entry: AuditEntry = toAdminEntry('token_revoked', adminRole, {
      reason: 'all_sessions_revoked',
      created_before: before.toISOString(),
    })
    const [row] = await db.run(endManySessions, {
      after: after ?? null,
      most: atOnce,
      createdBefore: before,
      now: new Date(now()),
      auditId: entry.id,
      auditPayload: entry.payload,
      ip,
    })
    count += row?.count ?? 0
    after = row?.last ?? undefined
  } while (after !== undefined && hasTime())
  return { count, after }
}
