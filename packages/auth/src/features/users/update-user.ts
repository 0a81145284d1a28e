import type { Database, Queries } from '../../db/database.ts'
import { runGapped } from '../../messages/requests/message-gaps.ts'
import { endSessionsMeanwhile, type UserChange, updateUser } from './statements/update-user.ts'
import type { UserRow } from './statements/user-row.ts'
import { toTakenError } from './taken-names.ts'

/** Where nothing but the above changes. */
export const noChange = {
  by_admin: false,
  role: null,
  email: null,
  email_confirmed_at: null,
  phone: null,
  phone_confirmed_at: null,
  encrypted_password: null,
  user_metadata: null,
  app_metadata: null,
  most_user_metadata: null,
  most_app_metadata: null,
  copied_metadata: null,
  is_anonymous: null,
  changes_ban: false,
  banned_until: null,
  invited_at: null,
  confirmation_sent_at: null,
  recovery_sent_at: null,
  email_change: null,
  restarts_email_change: false,
  email_change_gap_seconds: null,
  phone_change: null,
  phone_change_gap_seconds: null,
  identities: [],
  identity_patches: [],
  cleared_tokens: [],
  ended_sessions: null,
  session_id: null,
  nonce_hashes: null,
  shown_hash: null,
  token: null,
  flow: null,
  messages: [],
  cap_most: null,
  cap_refill_ms: null,
} as const satisfies Partial<UserChange>

/** Undefined: the statement tells when. @throws {ApiError} where address or number are taken */
export async function changeUser(
  db: Queries,
  change: UserChange,
  speaker: 'own' | 'admin',
): Promise<UserRow | undefined> {
  try {
    return await runGapped<UserRow>(db, updateUser, [change])
  } catch (error) {
    throw toTakenError(error, speaker)
  }
}

/** Where sessions may end: with those that are being opened at this moment. */
export async function changeUserWhole(
  db: Database,
  change: UserChange,
  speaker: 'own' | 'admin',
): Promise<UserRow | undefined> {
  if (change.ended_sessions === null) return changeUser(db, change, speaker)
  return db.transaction((queries) => changeAndEnd(queries, change, speaker))
}

/** In a transaction. */
export async function changeAndEnd(
  db: Queries,
  change: UserChange,
  speaker: 'own' | 'admin',
): Promise<UserRow | undefined> {
  const user = await changeUser(db, change, speaker)
  if (user !== undefined && change.ended_sessions !== null) {
    const kept = change.ended_sessions === 'others' ? change.session_id : null
    await db.run(endSessionsMeanwhile, [change.user_id, kept, change.now])
  }
  return user
}
