import type { Services } from '../../services.ts'
import type { Json } from '../users/metadata.ts'
import { toLimitValues } from './session-limits.ts'
import { type ListedSession, listSessions } from './statements/session-list.ts'

export type SessionRecord = Readonly<Record<string, Json>>

/** Where a user is signed in. @param currentId the session that asks, if one does. */
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

/** First match wins: most browsers name others that they want to be taken for. */
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

/** What people call the device: `Firefox on Windows`. Only a hint, for anybody can send anything. */
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
