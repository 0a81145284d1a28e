import type { Queries } from '../../db/database.ts'
import { ApiError, invalid } from '../../errors.ts'
import {
  secondsUntilDue,
  toCapError,
  toCapParts,
  toGapError,
} from '../../messages/requests/email-limits.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import { findTextGapMs } from '../../messages/requests/phone-codes.ts'
import { requireGateway } from '../../messages/requests/phone-gateway.ts'
import { toSmsCapError, toSmsGapError } from '../../messages/requests/sms-limits.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { isBelowLevel } from '../factors/assurance-level.ts'
import { mostAttempts } from '../one-time-codes/one-time-tokens.ts'
import type { Challenge } from '../sessions/pkce.ts'
import type { Client } from '../sessions/sessions.ts'
import { guardPassword } from '../sign-in/password-attempts.ts'
import { checkAuthorized, emailExists, phoneExists } from '../users/addresses.ts'
import type { Metadata } from '../users/metadata.ts'
import { checkMetadataSize, omitKeys } from '../users/metadata.ts'
import { findUserById } from '../users/statements/find-users.ts'
import {
  checkUserUpdate,
  type UpdateVerdict,
  type UserChange,
} from '../users/statements/update-user.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { allTokensBut, changeAndEnd, noChange, toReachChange } from '../users/update-user.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import { planEmailChange, planPhoneChange } from './address-changes.ts'
import { hashNonce } from './reauthentication.ts'

/** A user as the session knows them. */
export interface SelfUser extends UserRow {
  readonly session_id: string | null
  readonly is_recovery: boolean | null
  /** What the token and the session agree on. */
  readonly aal: string | null
}

/** What users change about themselves; undefined stays. */
export interface SelfUpdate {
  readonly user: SelfUser
  readonly email: string | undefined
  readonly phone: string | undefined
  /** Of the message to a new number. */
  readonly channel: TextChannel
  readonly password: string | undefined
  readonly currentPassword: string | undefined
  readonly nonce: string | undefined
  readonly data: Metadata | undefined
  readonly appMetadata: Metadata | undefined
  readonly challenge: Challenge | undefined
  readonly client: Client
  readonly redirectTo: string
  readonly externalUrl: string
}

/** Reference 3.14. @throws {ApiError} */
export async function updateSelf(services: Services, update: SelfUpdate): Promise<UserRecord> {
  const { user } = update
  const email = update.email === user.email ? undefined : update.email
  const phone = update.phone === user.phone ? undefined : update.phone
  const changes = { ...update, email, phone, data: update.data && toOwnData(user, update.data) }
  await checkRights(services, changes)
  const nonceHashes = await checkDatabase(services, changes)
  const hash = await hashNew(services, changes)
  const shownHash = update.currentPassword === undefined ? null : user.encrypted_password
  const [first, second] = toChanges(services, changes, { hash, nonceHashes, shownHash })
  const apply = async (db: Queries, change: UserChange) => {
    const updated = await changeAndEnd(db, change, 'own')
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

/** The number of the account stands in its metadata too: that is the server's copy. */
function toOwnData(user: SelfUser, data: Metadata): Metadata {
  return user.phone === null ? data : omitKeys(data, new Set(['phone']))
}

/** What needs no look at the database. */
async function checkRights(services: Services, update: SelfUpdate): Promise<void> {
  const { user, email, phone, password, nonce, appMetadata } = update
  const { config } = services
  const { adminGroup, audience } = config.tokens
  if (appMetadata !== undefined && (user.role !== adminGroup || user.aud !== audience)) {
    throw new ApiError('not_admin', 'Updating app_metadata requires admin privileges')
  }
  const isNameless = email === undefined && phone === undefined
  if (!(isNameless && password === undefined) && isBelowLevel(user)) {
    throw new ApiError(
      'insufficient_aal',
      'AAL2 session is required to update email or password when MFA is enabled.',
      { status: 401 },
    )
  }
  if (user.is_anonymous && password !== undefined && isNameless) {
    throw invalid(
      'Updating password of an anonymous user without an email or phone is not allowed',
      { status: 422 },
    )
  }
  if (user.is_sso_user && !(isNameless && password === undefined)) {
    throw new ApiError(
      'user_sso_managed',
      'Updating email, phone, password of a SSO account only possible via SSO',
    )
  }
  checkMetadataSize(services, user, {
    user_metadata: update.data ?? null,
    app_metadata: appMetadata ?? null,
  })
  if (password !== undefined) {
    await checkPassword(password, services.passwordPolicy)
    if (needsNonce(services, user) && nonce === undefined) {
      throw new ApiError('reauthentication_needed', 'Password update requires reauthentication')
    }
  }
  if (email !== undefined && !isAtOnce(services, user)) checkAuthorized(services, email)
  if (phone !== undefined && !config.sms.autoconfirm) {
    requireGateway(services, phone, 'phone_change')
  }
}

/** Whoever came by a recovery link has just proven to own the mailbox (D25). */
function needsNonce({ config }: Services, { is_recovery: isRecovery }: SelfUser): boolean {
  return config.site.requiresReauthentication && isRecovery !== true
}

/** @returns the hash of the code, where one is needed. */
async function checkDatabase(
  services: Services,
  update: SelfUpdate,
): Promise<readonly string[] | null> {
  const { db, config } = services
  const { user, email, phone, password, nonce } = update
  const nonceHashes =
    password !== undefined && nonce !== undefined && needsNonce(services, user)
      ? hashNonce(services, user, nonce)
      : null
  const isNamed = email !== undefined || phone !== undefined
  if (!isNamed && nonceHashes === null) return null
  const now = new Date(services.now())
  // Clients depend on the answer that a name is taken; so users may hear it so often and no more.
  const limits = isNamed ? [{ limiter: 'taken', key: user.id } as const] : []
  const { verdict } = await services.guesses.guard(limits, async () => {
    const [verdict] = await db.run<UpdateVerdict>(checkUserUpdate, [
      {
        user_id: user.id,
        email: email ?? null,
        phone: phone ?? null,
        nonce_hashes: nonceHashes,
        most_attempts: mostAttempts,
        now,
      },
    ])
    return { verdict, isRight: !(verdict?.is_email_taken || verdict?.is_phone_taken) }
  })
  if (verdict?.is_email_taken) throw emailExists()
  if (verdict?.is_phone_taken) throw phoneExists('own')
  if (nonceHashes !== null && !verdict?.is_nonce_right) throw badNonce()
  if (email !== undefined && !isAtOnce(services, user)) {
    const waitSeconds = secondsUntilDue(user.email_change_sent_at, config.mail.gapMs, now.getTime())
    if (waitSeconds > 0) throw toGapError(waitSeconds)
  }
  if (phone !== undefined && !config.sms.autoconfirm) {
    const gapMs = findTextGapMs(services, phone)
    const waitSeconds = secondsUntilDue(user.phone_change_sent_at, gapMs, now.getTime())
    if (waitSeconds > 0) throw toSmsGapError(waitSeconds)
  }
  return nonceHashes
}

function badNonce(): ApiError {
  return new ApiError('reauthentication_not_valid', 'Nonce has expired or is invalid')
}

/** Nobody but a stranger gets a new address without confirming it. */
function isAtOnce({ config }: Services, user: UserRow): boolean {
  return user.is_anonymous && config.mail.autoconfirm
}

async function hashNew(services: Services, update: SelfUpdate): Promise<string | null> {
  const { passwords } = services
  const { user, password } = update
  if (password === undefined) return null
  const before = user.encrypted_password
  if (before !== null) {
    await checkCurrent(services, update, before)
    if ((await passwords.check(password, before)).isRight) {
      throw new ApiError('same_password', 'New password should be different from the old password.')
    }
  }
  return passwords.hash(password)
}

/** One that is sent is checked, whether or not it is asked for. */
async function checkCurrent(services: Services, update: SelfUpdate, hash: string): Promise<void> {
  const { passwords, config } = services
  const { user, currentPassword, client } = update
  const text = 'Current password required when setting new password.'
  if (currentPassword === undefined) {
    if (!config.site.requiresCurrentPassword || user.is_recovery === true) return
    throw new ApiError('current_password_required', text)
  }
  // Whoever has a stolen session must not find out the password.
  const account = { audience: user.aud, name: user.email ?? user.phone ?? user.id }
  const { isRight } = await guardPassword(services, { account, client }, () =>
    passwords.check(currentPassword, hash),
  )
  if (!isRight) throw new ApiError('current_password_invalid', text)
}

interface Hashes {
  readonly hash: string | null
  readonly nonceHashes: readonly string[] | null
  /** Of the current password, where it was shown. */
  readonly shownHash: string | null
}

/** Two where both an email and a text message are to be sent: a statement has one kind only. */
function toChanges(
  services: Services,
  update: SelfUpdate,
  { hash, nonceHashes, shownHash }: Hashes,
): readonly [UserChange, UserChange?] {
  const { user, email, phone, channel, data, appMetadata, client } = update
  const { config } = services
  const now = new Date(services.now())
  const emailNow = isAtOnce(services, user) ? email : undefined
  const asked = emailNow === undefined ? email : undefined
  const plan =
    asked === undefined ? undefined : planEmailChange(services, { ...update, newEmail: asked })
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
    ...toReachChange(user.id, {
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
    ...(asked !== undefined && {
      email_change: asked,
      restarts_email_change: true,
      email_change_gap_seconds: config.mail.gapMs / 1_000,
    }),
    // Whatever is not sent anew for the address must not work for it.
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

/** Why the statement changed nothing, though all was well a moment ago. */
async function findReason(db: Queries, services: Services, change: UserChange): Promise<ApiError> {
  const { config } = services
  const { now, user_id: userId, nonce_hashes: nonceHashes, messages, channel } = change
  const { shown_hash: shownHash } = change
  if (nonceHashes !== null) return badNonce()
  const [user] = await db.run<UserRow>(findUserById, [userId])
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
    const gapMs = (change.phone_change_gap_seconds ?? 0) * 1_000
    const waitSeconds = secondsUntilDue(user.phone_change_sent_at, gapMs, now.getTime())
    return waitSeconds > 0
      ? toSmsGapError(waitSeconds)
      : toSmsCapError(db, config.limits.smsSent, now)
  }
  const { email_change_sent_at: sentAt } = user
  const waitSeconds = secondsUntilDue(sentAt, config.mail.gapMs, now.getTime())
  return waitSeconds > 0 ? toGapError(waitSeconds) : toCapError(db, config.limits.emailSent, now)
}
