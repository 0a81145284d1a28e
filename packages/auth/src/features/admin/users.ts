import { parseDuration } from '@portcullis/service-kit/settings/duration'
import { invalid } from '../../errors.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { toAdminEntry, toSubjectEntry } from '../audit/audit.ts'
import { findSessions, type SessionRecord } from '../sessions/session-list.ts'
import type { Client } from '../sessions/sessions.ts'
import type { IdentityPatch, UserChange } from '../user-changes/statements/update-user.ts'
import {
  allTokensBut,
  changeUserInTransaction,
  noChange,
  toAddressChange,
} from '../user-changes/update-user.ts'
import { checkMetadataSize } from '../users/metadata.ts'
import { findUserById, type UserRow } from '../users/statements/user-row.ts'
import { getUser, toUserRecord, type UserRecord, userNotFound } from '../users/user-record.ts'
import { deleteUser, softDeleteUser } from './statements/delete-user.ts'

/** Lists the sessions of a user. @throws {ApiError} */
export async function findSessionsOf(
  services: Services,
  userId: string,
): Promise<readonly SessionRecord[]> {
  const sessions = await findSessions(services, userId, null)
  // An empty list may mean that the user does not exist.
  if (sessions.length === 0) await getUser(services, userId)
  return sessions
}

/** Undefined fields stay unchanged. */
interface AdminUpdate {
  readonly userId: string
  readonly role: string | undefined
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly password: string | undefined
  readonly confirmsEmail: boolean
  readonly confirmsPhone: boolean
  readonly userMetadata: Metadata | undefined
  readonly appMetadata: Metadata | undefined
  /** Null lifts the ban. */
  readonly bannedUntil: Date | null | undefined
  readonly adminRole: string
  /** The `sub` of the administrator's token, if it has one. */
  readonly adminSubject: string | undefined
  readonly client: Client
}

/** Updates a user immediately, without sending a message. @throws {ApiError} */
export async function updateUserAsAdmin(
  services: Services,
  update: AdminUpdate,
): Promise<UserRecord> {
  const { db, passwords, passwordPolicy } = services
  const { password } = update
  if (password !== undefined) await checkPassword(password, passwordPolicy)
  const user = await getUser(services, update.userId)
  const { mostUserBytes, mostAppBytes } = services.config.metadata
  const hash = password === undefined ? null : (await passwords.hash(password)).toStored(user.id)
  const change: UserChange = {
    ...toChange(update, user, hash, new Date(services.now())),
    most_user_metadata: mostUserBytes,
    most_app_metadata: mostAppBytes,
  }
  checkMetadataSize(services, user, change)
  const updated = await changeUserInTransaction(db, change, 'admin')
  if (updated === undefined) {
    const [present] = await db.run(findUserById, { id: update.userId })
    if (present !== undefined) checkMetadataSize(services, present, change)
    throw userNotFound()
  }
  return toUserRecord(updated)
}

function toChange(update: AdminUpdate, user: UserRow, hash: string | null, now: Date): UserChange {
  const { confirmsEmail, confirmsPhone, bannedUntil, role, userMetadata, appMetadata } = update
  const email = update.email === user.email ? undefined : update.email
  const phone = update.phone === user.phone ? undefined : update.phone
  const emailIsProven = confirmsEmail && (email ?? user.email) !== null
  const phoneIsProven = confirmsPhone && (phone ?? user.phone) !== null
  const addresses = toAddressChange(user.id, {
    email,
    isEmailVerified: confirmsEmail,
    phone,
    isPhoneVerified: confirmsPhone,
  })
  const patches: readonly IdentityPatch[] = [
    ...(emailIsProven && email === undefined
      ? [{ provider: 'email', identity_data: { email_verified: true } }]
      : []),
    ...(phoneIsProven && phone === undefined
      ? [{ provider: 'phone', identity_data: { phone_verified: true } }]
      : []),
  ]
  const isReplaced = hash !== null || email !== undefined || phone !== undefined
  return {
    ...noChange,
    user_id: user.id,
    by_admin: hash !== null || userMetadata !== undefined,
    role: role ?? null,
    email: email ?? null,
    email_confirmed_at: emailIsProven && isNew(email, user.email_confirmed_at) ? now : null,
    phone: phone ?? null,
    phone_confirmed_at: phoneIsProven && isNew(phone, user.phone_confirmed_at) ? now : null,
    identities: addresses.identities,
    identity_patches: patches,
    copied_metadata: Object.assign(
      {},
      ...patches.map(({ identity_data: data }) => data),
      addresses.copied_metadata,
    ),
    is_anonymous: emailIsProven || phoneIsProven ? false : null,
    encrypted_password: hash,
    ended_sessions: hash === null ? null : 'all',
    cleared_tokens: isReplaced ? allTokensBut([]) : [],
    user_metadata: userMetadata ?? null,
    app_metadata: appMetadata ?? null,
    changes_ban: bannedUntil !== undefined,
    banned_until: bannedUntil ?? null,
    now,
    ip: update.client.ip,
    audit: toSubjectEntry('user_modified', update.adminRole, user, toBanTraits(update)),
  }
}

/** When the ban ends and who set it; the time is empty when the ban was lifted. */
function toBanTraits({ bannedUntil, adminSubject }: AdminUpdate): Metadata {
  if (bannedUntil === undefined) return {}
  return {
    banned_until: bannedUntil?.toISOString() ?? '',
    ...(adminSubject !== undefined && { admin: adminSubject }),
  }
}

/** An existing confirmation keeps its time. */
function isNew(replacement: string | undefined, confirmedAt: string | null): boolean {
  return replacement !== undefined || confirmedAt === null
}

/**
 * Parses the end of a ban. Undefined when the request does not change the ban; null when it lifts
 * it.
 * @throws {ApiError}
 */
export function parseBan(text: string | undefined, nowMs: number): Date | null | undefined {
  if (text === undefined || text === '') return undefined
  if (text === 'none') return null
  const durationMs = parseDuration(text)
  if (durationMs === undefined) {
    throw invalid(
      `invalid format for ban duration: "${text}" is not a duration such as 24h or 1h30m`,
    )
  }
  return new Date(nowMs + durationMs)
}

interface UserDeletion {
  readonly userId: string
  /** Whether the ID is kept. */
  readonly isSoft: boolean
  readonly adminRole: string
  readonly ip: string
}

/** Deletes a user. @throws {ApiError} */
export async function removeUser({ db, now }: Services, deletion: UserDeletion): Promise<void> {
  const { userId, isSoft, adminRole, ip } = deletion
  // The entry contains no address or phone number, so that it does not identify the deleted user.
  const entry = toAdminEntry('user_deleted', adminRole, { user_id: userId })
  const statement = isSoft ? softDeleteUser : deleteUser
  const [gone] = await db.run(statement, {
    userId,
    auditId: entry.id,
    auditPayload: entry.payload,
    ip,
    now: new Date(now()),
  })
  if (gone === undefined) throw userNotFound()
}
