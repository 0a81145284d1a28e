import { randomUUID } from 'node:crypto'
import { addAuditEntry } from '../db/audit-log.ts'
import { createUser } from '../db/create-user.ts'
import type { UserRow } from '../db/user-row.ts'
import { findUserByEmail } from '../db/users.ts'
import { isTaken } from '../db/violations.ts'
import { ApiError } from '../errors.ts'
import { toAuditEntry } from './audit.ts'
import { toCapError, toCapParts } from './email-limits.ts'
import type { Metadata } from './metadata.ts'
import { confirmEmail, draftEmailUser, type UserDraft, unconfirmed } from './new-users.ts'
import type { Services } from './services.ts'
import type { TokenResponse } from './sessions.ts'
import { type MailAsk, mailNobody, mailUser, toMailRequest, userMails } from './user-mail.ts'
import { toUserRecord, type UserRecord } from './user-record.ts'

export interface EmailSignUp extends MailAsk {
  readonly password: string
  readonly data: Metadata
}

/**
 * Reference 3.3. To somebody who has an account the answer looks like that of a new one, and takes as
 * long. @throws {ApiError}
 */
export async function signUpByEmail(
  services: Services,
  input: EmailSignUp,
): Promise<UserRecord | TokenResponse> {
  const { db, config, passwords } = services
  const [known] = await db.run<UserRow>(findUserByEmail, [input.email, input.audience])
  if (known !== undefined) return repeat(services, input, known)
  const hash = await passwords.hash(input.password)
  const draft = draftEmailUser(input.email, {
    aud: input.audience,
    role: config.tokens.defaultGroup,
    data: input.data,
  })
  try {
    return config.mail.autoconfirm
      ? await createConfirmed(services, input, confirmEmail(draft), hash)
      : toUserRecord(await createWaiting(services, input, draft, hash))
  } catch (error) {
    if (!isTaken(error, 'users_email')) throw error
    // Somebody was faster, since we looked.
    const [other] = await db.run<UserRow>(findUserByEmail, [input.email, input.audience])
    if (other === undefined) throw alreadyRegistered()
    return repeat(services, input, other)
  }
}

async function createConfirmed(
  services: Services,
  { client }: EmailSignUp,
  draft: UserDraft,
  hash: string,
): Promise<TokenResponse> {
  const now = new Date(services.now())
  const actor = { ...draft, is_sso_user: false }
  await services.db.run(createUser, [
    {
      ...draft,
      ...unconfirmed,
      encrypted_password: hash,
      email_confirmed_at: now,
      now,
      ip: client.ip,
      audit: toAuditEntry('user_signedup', actor, { provider: 'email' }),
      token: null,
      flow: null,
      messages: [],
      cap_most: null,
      cap_refill_ms: null,
    },
  ])
  return services.sessions.open({ user: actor, method: 'password', client })
}

async function createWaiting(
  services: Services,
  input: EmailSignUp,
  draft: UserDraft,
  hash: string,
): Promise<UserRow> {
  const { db, config } = services
  const now = new Date(services.now())
  const { token, flow, message } = services.mail.plan(toMailRequest(input, userMails.confirmation))
  const [user] = await db.run<UserRow>(createUser, [
    {
      ...draft,
      ...unconfirmed,
      encrypted_password: hash,
      confirmation_sent_at: now,
      now,
      ip: input.client.ip,
      audit: toAuditEntry('user_confirmation_requested', { ...draft, is_sso_user: false }),
      token,
      flow,
      messages: [message],
      ...toCapParts(config.limits.emailSent),
    },
  ])
  if (user === undefined) throw await toCapError(db, config.limits.emailSent, now)
  services.wakeMessages()
  return user
}

async function repeat(services: Services, input: EmailSignUp, known: UserRow): Promise<UserRecord> {
  const { db, config, passwords } = services
  await passwords.pretend(input.password)
  const now = new Date(services.now())
  if (known.email_confirmed_at === null) {
    await mailUser(services, input, known, userMails.confirmation)
    return toUserRecord({ ...known, confirmation_sent_at: now.toISOString() })
  }
  if (config.mail.autoconfirm) throw alreadyRegistered()
  // Where no more email may go out, a newcomer would be told so as well.
  await mailNobody(services)
  const entry = toAuditEntry('user_repeated_signup', known)
  await db.run(addAuditEntry, [entry.id, entry.payload, input.client.ip, now])
  return toFakeRecord(services, input, now)
}

function alreadyRegistered(): ApiError {
  return new ApiError('user_already_exists', 'User already registered', { status: 400 })
}

/** What a new user with that address would have got. */
function toFakeRecord({ config }: Services, input: EmailSignUp, now: Date): UserRecord {
  const id = randomUUID()
  const time = now.toISOString()
  const draft = draftEmailUser(input.email, {
    id,
    aud: input.audience,
    role: config.tokens.defaultGroup,
    data: input.data,
  })
  const never = {
    encrypted_password: null,
    email_confirmed_at: null,
    phone_confirmed_at: null,
    invited_at: null,
    recovery_sent_at: null,
    email_change: null,
    email_change_sent_at: null,
    email_change_confirm_status: 0,
    phone_change: null,
    phone_change_sent_at: null,
    reauthentication_sent_at: null,
    last_sign_in_at: null,
    banned_until: null,
    deleted_at: null,
  }
  const times = { last_sign_in_at: time, created_at: time, updated_at: time }
  return toUserRecord({
    ...draft,
    ...never,
    is_sso_user: false,
    confirmation_sent_at: time,
    created_at: time,
    updated_at: time,
    identities: config.site.marksRepeatedSignup
      ? []
      : draft.identities.map((identity) => ({
          ...identity,
          ...times,
          user_id: id,
          email: input.email,
        })),
  })
}
