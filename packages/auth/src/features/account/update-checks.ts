import { checkAuthorized } from '../../addresses.ts'
import { ApiError, invalid } from '../../errors.ts'
import { secondsUntilDue, toCooldownError } from '../../messages/requests/message-cooldowns.ts'
import { findTextCooldownMs } from '../../messages/requests/phone-codes.ts'
import { requireGateway } from '../../messages/requests/phone-gateway.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { mostAttempts } from '../../tokens/one-time-tokens.ts'
import { isBelowLevel } from '../sessions/assurance-level.ts'
import { guardPassword } from '../sessions/password-attempts.ts'
import type { Challenge } from '../sessions/pkce.ts'
import type { Client } from '../sessions/sessions.ts'
import { checkUserUpdate } from '../user-changes/statements/update-user.ts'
import { checkMetadataSize } from '../users/metadata.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { emailExists, phoneExists } from '../users/taken-errors.ts'
import { hashNonce } from './reauthentication.ts'

/** A user with the session of the request. */
export interface SelfUser extends UserRow {
  readonly session_id: string | null
  readonly is_recovery: boolean | null
  /** The lower of the assurance levels of token and session. */
  readonly aal: string | null
}

/** What users change about themselves. Undefined fields stay unchanged. */
export interface SelfUpdate {
  readonly user: SelfUser
  readonly email: string | undefined
  readonly phone: string | undefined
  /** How the code for a new phone number is sent. */
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

/** The checks that do not need the database. */
export async function checkRights(services: Services, update: SelfUpdate): Promise<void> {
  const { user, email, phone, password, nonce, appMetadata } = update
  const { config } = services
  const { adminGroup, audience } = config.tokens
  if (appMetadata !== undefined && (user.role !== adminGroup || user.aud !== audience)) {
    throw new ApiError('not_admin', 'Updating app_metadata requires admin privileges')
  }
  const changesAddress = email !== undefined || phone !== undefined
  if ((changesAddress || password !== undefined) && isBelowLevel(user)) {
    throw new ApiError(
      'insufficient_aal',
      'AAL2 session is required to update email or password when MFA is enabled.',
      { status: 401 },
    )
  }
  if (user.is_anonymous && password !== undefined && !changesAddress) {
    throw invalid(
      'Updating password of an anonymous user without an email or phone is not allowed',
      { status: 422 },
    )
  }
  if (user.is_sso_user && (changesAddress || password !== undefined)) {
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
  if (email !== undefined && !skipsEmailConfirmation(services, user))
    checkAuthorized(services, email)
  if (phone !== undefined && !config.sms.autoconfirm) {
    requireGateway(services, phone, 'phone_change')
  }
}

/** No nonce is needed after a sign-in with a recovery link, which proves access to the mailbox. */
function needsNonce({ config }: Services, { is_recovery: isRecovery }: SelfUser): boolean {
  return config.site.requiresReauthentication && isRecovery !== true
}

/** @returns the possible hashes of the code, if one is required. */
export async function checkDatabase(
  services: Services,
  update: SelfUpdate,
): Promise<readonly string[] | null> {
  const { db, config } = services
  const { user, email, phone, password, nonce } = update
  const nonceHashes =
    password !== undefined && nonce !== undefined && needsNonce(services, user)
      ? await hashNonce(services, user, nonce)
      : null
  const changesAddress = email !== undefined || phone !== undefined
  if (!changesAddress && nonceHashes === null) return null
  const now = new Date(services.now())
  // Clients rely on the error for an address that is taken. The number of these errors per user is
  // limited, so that accounts cannot be enumerated.
  const limits = changesAddress ? [{ limiter: 'taken', key: user.id } as const] : []
  const { verdict } = await services.guesses.guard(limits, async () => {
    const [verdict] = await db.run(checkUserUpdate, {
      user_id: user.id,
      email: email ?? null,
      phone: phone ?? null,
      nonce_hashes: nonceHashes,
      most_attempts: mostAttempts,
      now,
    })
    return { verdict, isRight: !(verdict?.is_email_taken || verdict?.is_phone_taken) }
  })
  if (verdict?.is_email_taken) throw emailExists()
  if (verdict?.is_phone_taken) throw phoneExists('own')
  if (nonceHashes !== null && !verdict?.is_nonce_right) throw badNonce()
  if (email !== undefined && !skipsEmailConfirmation(services, user)) {
    const waitSeconds = secondsUntilDue(
      user.email_change_sent_at,
      config.mail.cooldownMs,
      now.getTime(),
    )
    if (waitSeconds > 0) throw toCooldownError('email', waitSeconds)
  }
  if (phone !== undefined && !config.sms.autoconfirm) {
    const cooldownMs = findTextCooldownMs(services, phone)
    const waitSeconds = secondsUntilDue(user.phone_change_sent_at, cooldownMs, now.getTime())
    if (waitSeconds > 0) throw toCooldownError('sms', waitSeconds)
  }
  return nonceHashes
}

export function badNonce(): ApiError {
  return new ApiError('reauthentication_not_valid', 'Nonce has expired or is invalid')
}

/** Only an anonymous user gets a new address without confirming it, and only with autoconfirm. */
export function skipsEmailConfirmation({ config }: Services, user: UserRow): boolean {
  return user.is_anonymous && config.mail.autoconfirm
}

export async function hashNewPassword(
  services: Services,
  update: SelfUpdate,
): Promise<string | null> {
  const { passwords } = services
  const { user, password } = update
  if (password === undefined) return null
  if (user.encrypted_password !== null) {
    await checkCurrentPassword(services, update)
    if ((await passwords.check(password, user)).isRight) {
      throw new ApiError('same_password', 'New password should be different from the old password.')
    }
  }
  return (await passwords.hash(password)).toStored(user.id)
}

/** A current password that is sent is checked even if it is not required. */
async function checkCurrentPassword(services: Services, update: SelfUpdate): Promise<void> {
  const { passwords, config } = services
  const { user, currentPassword, client } = update
  const text = 'Current password required when setting new password.'
  if (currentPassword === undefined) {
    if (!config.site.requiresCurrentPassword || user.is_recovery === true) return
    throw new ApiError('current_password_required', text)
  }
  // Attempts are limited, so that an attacker with a stolen session cannot guess the password.
  const account = { audience: user.aud, name: user.email ?? user.phone ?? user.id }
  const { isRight } = await guardPassword(services, { account, client }, () =>
    passwords.check(currentPassword, user),
  )
  if (!isRight) throw new ApiError('current_password_invalid', text)
}
