import type { Queries } from '../db/database.ts'
import type { UserChange } from '../db/update-user.ts'
import { updateUser } from '../db/update-user.ts'
import type { UserRow } from '../db/user-row.ts'
import { toTakenError } from './taken-names.ts'

/** Where nothing but the above changes. */
export const noChange = {
  role: null,
  email: null,
  email_confirmed_at: null,
  phone: null,
  phone_confirmed_at: null,
  encrypted_password: null,
  user_metadata: null,
  app_metadata: null,
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
  identities: [],
  identity_patches: [],
  cleared_tokens: [],
  ended_sessions: null,
  session_id: null,
  nonce_hash: null,
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
    const [user] = await db.run<UserRow>(updateUser, [change])
    return user
  } catch (error) {
    throw toTakenError(error, speaker)
  }
}
