import type { Queries } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import {
  secondsUntilDue,
  toCapError,
  toCapParts,
  toCooldownError,
} from '../../messages/requests/message-cooldowns.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import type { Services } from '../../services.ts'
import { type Metadata, omitKeys } from '../../stored-json.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { UserChange } from '../user-changes/statements/update-user.ts'
import {
  allTokensBut,
  changeUserAndEndSessions,
  noChange,
  toAddressChange,
} from '../user-changes/update-user.ts'
import { checkMetadataSize } from '../users/metadata.ts'
import { findUserById } from '../users/statements/user-row.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import { planEmailChange, planPhoneChange } from './address-changes.ts'
import {
  badNonce,
  checkDatabase,
  checkRights,
  hashNewPassword,
  type SelfUpdate,
  type SelfUser,
  skipsEmailConfirmation,
} from './update-checks.ts'

/** Updates a user at their own request. @throws {ApiError} */
export async function updateSelf(services: Services, update: SelfUpdate): Promise<UserRecord> {
  const { user } = update
  const email = update.email === user.email ? undefined : update.email
  const phone = update.phone === user.phone ? undefined : update.phone
  const changes = { ...update, email, phone, data: update.data && toOwnData(user, update.data) }
  await checkRights(services, changes)
  const nonceHashes = await checkDatabase(services, changes)
  const hash = await hashNewPassword(services, changes)
  const shownHash = update.currentPassword === undefined ? null : user.encrypted_password
  const [first, second] = toChanges(services, changes, { hash, nonceHashes, shownHash })
  const apply = async (db: Queries, change: UserChange) => {
    const updated = await changeUserAndEndSessions(db, change, 'own')
    if (updated === undefined) throw await findReason(db, services, change)
    return updated
  }
  const updated =
    second === undefined && first.ended_sessions === null
      ? await apply(services.db, first)
      : await services.db.transaction(async (db) => {
          const user = await apply(db, first)
          return second === undefined ? user : apply(db, second)
        })
  if (first.messages.length > 0 || first.notices?.length || second !== undefined) {
    services.wakeMessages()
  }
  return toUserRecord(updated)
}

/** `phone` in the metadata is the server's copy of the phone number, so users cannot change it. */
function toOwnData(user: SelfUser, data: Metadata): Metadata {
  return user.phone === null ? data : omitKeys(data, new Set(['phone']))
}

interface Hashes {
  readonly hash: string | null
  readonly nonceHashes: readonly string[] | null
  /** The hash of the current password, if the user entered it. */
  readonly shownHash: string | null
}

/**
 * Returns two changes if both an email and a text message are sent: one statement sends only one
 * kind.
 */
function toChanges(
  services: Services,
  update: SelfUpdate,
  { hash, nonceHashes, shownHash }: Hashes,
): readonly [UserChange, UserChange?] {
  const { user, email, phone, channel, data, appMetadata, client } = update
  const { config } = services
  const now = new Date(services.now())
  const emailNow = skipsEmailConfirmation(services, user) ? email : undefined
  const emailToConfirm = emailNow === undefined ? email : undefined
  const plan =
    emailToConfirm === undefined
      ? undefined
      : planEmailChange(services, { ...update, newEmail: emailToConfirm })
  const phoneNow = config.sms.autoconfirm ? phone : undefined
  const phoneChange =
    phone === undefined || phoneNow !== undefined
      ? undefined
      : planPhoneChange(services, phone, channel)
  const isReplaced = hash !== null || emailNow !== undefined || phoneNow !== undefined
  const common = { ...noChange, user_id: user.id, now, ip: client.ip }
  const change: UserChange = {
    ...common,
    email: emailNow ?? null,
    email_confirmed_at: emailNow === undefined ? null : now,
    phone: phoneNow ?? null,
    phone_confirmed_at: phoneNow === undefined ? null : now,
    is_anonymous: emailNow === undefined && phoneNow === undefined ? null : false,
    ...toAddressChange(user.id, {
      email: emailNow,
      isEmailVerified: true,
      phone: phoneNow,
      isPhoneVerified: true,
    }),
    encrypted_password: hash,
    ended_sessions: hash === null ? null : 'others',
    session_id: user.session_id,
    nonce_hashes: nonceHashes,
    shown_hash: hash === null ? null : shownHash,
    user_metadata: data ?? null,
    app_metadata: appMetadata ?? null,
    most_user_metadata: config.metadata.mostUserBytes,
    most_app_metadata: config.metadata.mostAppBytes,
    ...(emailToConfirm !== undefined && {
      email_change: emailToConfirm,
      restarts_email_change: true,
      email_change_gap_seconds: config.mail.cooldownMs / 1_000,
    }),
    // Tokens for the old address that are not replaced must stop working.
    cleared_tokens: allTokensBut(plan?.tokens ?? []).filter((type) =>
      type === 'phone_change' && phoneChange !== undefined
        ? false
        : isReplaced || (plan && type === 'email_change_current'),
    ),
    audit: [
      toAuditEntry('user_modified', user),
      ...(hash === null ? [] : [toAuditEntry('user_updated_password', user)]),
    ],
    notices: [
      ...(hash === null ? [] : planNotices(services, 'password_changed', user)),
      ...(phoneNow === undefined
        ? []
        : planNotices(services, 'phone_changed', user, {
            Phone: phoneNow,
            OldPhone: user.phone ?? '',
          })),
    ],
    token: plan?.tokens ?? null,
    flow: plan?.flow ?? null,
    messages: plan?.messages ?? [],
    ...(plan && toCapParts(config.limits.emailSent)),
  }
  if (phoneChange === undefined) return [change]
  if (plan === undefined) return [{ ...change, ...phoneChange }]
  return [change, { ...common, audit: [], ...phoneChange }]
}

/** Finds out why the statement changed nothing although the checks passed. */
async function findReason(db: Queries, services: Services, change: UserChange): Promise<ApiError> {
  const { config } = services
  const { now, user_id: userId, nonce_hashes: nonceHashes, messages, channel } = change
  const { shown_hash: shownHash } = change
  if (nonceHashes !== null) return badNonce()
  const [user] = await db.run(findUserById, { id: userId })
  if (user) checkMetadataSize(services, user, change)
  if (user && shownHash !== null && user.encrypted_password !== shownHash) {
    return new ApiError('conflict', 'The account is being changed, please try again')
  }
  if (user === undefined || messages.length === 0) {
    return new ApiError('user_not_found', 'User from sub claim in JWT does not exist', {
      status: 403,
    })
  }
  if (channel === 'sms') {
    const cooldownMs = (change.phone_change_gap_seconds ?? 0) * 1_000
    const waitSeconds = secondsUntilDue(user.phone_change_sent_at, cooldownMs, now.getTime())
    return waitSeconds > 0
      ? toCooldownError('sms', waitSeconds)
      : toCapError({ db, config }, 'sms', now)
  }
  const { email_change_sent_at: sentAt } = user
  const waitSeconds = secondsUntilDue(sentAt, config.mail.cooldownMs, now.getTime())
  return waitSeconds > 0
    ? toCooldownError('email', waitSeconds)
    : toCapError({ db, config }, 'email', now)
}
