import { randomUUID } from 'node:crypto'
import { invalid } from '../../errors.ts'
import { findPasswordFormat, formatExamples } from '../../passwords/formats/index.ts'
import { requireHashable } from '../../passwords/password-policy.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { checkAudience } from '../../tokens/audiences.ts'
import { toSubjectEntry } from '../audit/audit.ts'
import type { Client } from '../sessions/sessions.ts'
import { insertUser, unconfirmed } from '../user-changes/new-users.ts'
import { toAddressChange } from '../user-changes/update-user.ts'
import { toTakenError } from '../users/taken-errors.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'

interface AdminNewUser {
  readonly id: string | undefined
  readonly aud: string
  readonly role: string | undefined
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly password: string | undefined
  readonly passwordHash: string | undefined
  readonly isEmailConfirmed: boolean
  readonly isPhoneConfirmed: boolean
  readonly userMetadata: Metadata
  readonly appMetadata: Metadata
  /** Null and undefined mean that the user is not banned. */
  readonly bannedUntil: Date | null | undefined
  readonly adminRole: string
  readonly client: Client
}

/** Creates a user without sending a message. @throws {ApiError} */
export async function createUserAsAdmin(
  services: Services,
  input: AdminNewUser,
): Promise<UserRecord> {
  const { config } = services
  checkAudience(input.aud, config.tokens)
  const { id = randomUUID(), email, phone, isEmailConfirmed, isPhoneConfirmed } = input
  const { identities } = toAddressChange(id, {
    email,
    isEmailVerified: isEmailConfirmed,
    phone,
    isPhoneVerified: isPhoneConfirmed,
  })
  const providers = identities.map(({ provider }) => provider)
  const [provider] = providers
  if (provider === undefined) {
    throw invalid('Cannot create a user without either an email or phone')
  }
  const encryptedPassword = await toHash(services, input, id)
  const now = new Date(services.now())
  const subject = { id, email: email ?? null, phone: phone ?? null }
  try {
    const user = await insertUser(services, {
      ...unconfirmed,
      ...subject,
      aud: input.aud,
      role: input.role ?? config.tokens.defaultGroup,
      encrypted_password: encryptedPassword,
      email_confirmed_at: email !== undefined && isEmailConfirmed ? now : null,
      phone_confirmed_at: phone !== undefined && isPhoneConfirmed ? now : null,
      banned_until: input.bannedUntil ?? null,
      raw_user_meta_data: {
        ...input.userMetadata,
        ...(email !== undefined && isEmailConfirmed && { email_verified: true }),
      },
      raw_app_meta_data: { provider, providers, ...input.appMetadata },
      is_anonymous: false,
      identities,
      admin_data: {
        password: input.password !== undefined || input.passwordHash !== undefined,
        user_metadata: input.userMetadata,
      },
      now,
      ip: input.client.ip,
      audit: toSubjectEntry('user_signedup', input.adminRole, subject),
      token: null,
      flow: null,
      messages: [],
      cap_most: null,
      cap_refill_ms: null,
    })
    if (user === undefined) throw new Error('The statement create_user returned nothing')
    return toUserRecord(user)
  } catch (error) {
    throw toTakenError(error, 'admin')
  }
}

async function toHash(
  { passwords }: Services,
  input: AdminNewUser,
  userId: string,
): Promise<string> {
  const { password, passwordHash } = input
  if (password !== undefined && passwordHash !== undefined) {
    throw invalid('Only a password or a password hash should be provided')
  }
  if (passwordHash !== undefined) {
    if (findPasswordFormat(passwordHash) !== undefined) {
      return passwords.toStored(passwordHash, userId)
    }
    throw invalid(
      `password_hash must be ${formatExamples}, with parameters that are safe to compute`,
    )
  }
  if (password === undefined) return passwords.createUnusable()
  requireHashable(password)
  return (await passwords.hash(password)).toStored(userId)
}
