import type { Database, Queries } from '../../db/database.ts'
import { runGapped } from '../../messages/requests/message-gaps.ts'
import { type OneTimeTokenType, oneTimeTokenTypes } from '../one-time-codes/one-time-tokens.ts'
import { toTakenError } from './addresses.ts'
import { toIdentity } from './new-users.ts'
import { endSessionsMeanwhile, type UserChange, updateUser } from './statements/update-user.ts'
import type { UserRow } from './statements/user-row.ts'

/** A change that changes nothing; requests spread it and add what they change. */
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
    return await runGapped(db, updateUser, change)
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
    await db.run(endSessionsMeanwhile, {
      userId: change.user_id,
      keptSessionId: kept,
      now: change.now,
    })
  }
  return user
}

/** A way to reach a user, from now on; the addresses and numbers of before no longer count. */
export interface Reach {
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  readonly phone: string | undefined
  readonly isPhoneVerified: boolean
}

/** What a change of address or number brings with it. */
export function toReachChange(
  userId: string,
  { email, isEmailVerified, phone, isPhoneVerified }: Reach,
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

/** All but those that the same statement writes. */
export function allTokensBut(
  written: readonly { readonly token_type: string }[],
): readonly OneTimeTokenType[] {
  return oneTimeTokenTypes.filter((type) => !written.some(({ token_type }) => token_type === type))
}
