import type { Database, Queries } from '../../db/database.ts'
import { runWithCooldown } from '../../messages/requests/message-cooldowns.ts'
import { type OneTimeTokenType, oneTimeTokenTypes } from '../../tokens/one-time-tokens.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { toTakenError } from '../users/taken-errors.ts'
import { toIdentity } from './new-users.ts'
import { endSessionsMeanwhile, type UserChange, updateUser } from './statements/update-user.ts'

/** A change without effect. Requests spread it and add their changes. */
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

/**
 * Returns undefined in the cases documented at `updateUser`.
 * @throws {ApiError} when the address or phone number is taken.
 */
export async function changeUser(
  db: Queries,
  change: UserChange,
  requester: 'own' | 'admin',
): Promise<UserRow | undefined> {
  try {
    return await runWithCooldown(db, updateUser, change)
  } catch (error) {
    throw toTakenError(error, requester)
  }
}

/**
 * Like `changeUser`. If the change ends sessions, sessions that are opened concurrently are ended
 * too.
 */
export async function changeUserInTransaction(
  db: Database,
  change: UserChange,
  requester: 'own' | 'admin',
): Promise<UserRow | undefined> {
  if (change.ended_sessions === null) return changeUser(db, change, requester)
  return db.transaction((queries) => changeUserAndEndSessions(queries, change, requester))
}

/** The same for a caller with its own transaction, which is required if sessions end. */
export async function changeUserAndEndSessions(
  db: Queries,
  change: UserChange,
  requester: 'own' | 'admin',
): Promise<UserRow | undefined> {
  const user = await changeUser(db, change, requester)
  if (user !== undefined && change.ended_sessions !== null) {
    const kept = change.ended_sessions === 'others' ? change.session_id : null
    await db.run(endSessionsMeanwhile, {
      userId: change.user_id,
      keptSessionId: kept,
      now: change.now,
    })
  }
  return user
}

/** The new addresses of a user, which replace the previous ones. */
export interface NewAddresses {
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly phone: string | undefined
  readonly isPhoneVerified: boolean
}

/** The identities and metadata that change with an address or phone number. */
export function toAddressChange(
  userId: string,
  { email, isEmailVerified, phone, isPhoneVerified }: NewAddresses,
): Pick<UserChange, 'identities' | 'copied_metadata'> {
  return {
    identities: [
      ...(email === undefined
        ? []
        : [toIdentity('email', { userId, name: email, data: {}, isVerified: isEmailVerified })]),
      ...(phone === undefined
        ? []
        : [toIdentity('phone', { userId, name: phone, data: {}, isVerified: isPhoneVerified })]),
    ],
    copied_metadata: {
      ...(email !== undefined && { email, email_verified: isEmailVerified }),
      ...(phone !== undefined && { phone, phone_verified: isPhoneVerified }),
    },
  }
}

/** All types except those that the same statement writes. */
export function allTokensBut(
  written: readonly { readonly token_type: string }[],
): readonly OneTimeTokenType[] {
  return oneTimeTokenTypes.filter((type) => !written.some(({ token_type }) => token_type === type))
}
