import { createUser, type NewUser } from '../db/create-user.ts'
import type { UserRow } from '../db/user-row.ts'
import { findUserByEmail } from '../db/users.ts'
import { isTaken } from '../db/violations.ts'
import { ApiError } from '../errors.ts'
import { toAuditEntry } from './audit.ts'
import { toCapError, toCapParts } from './email-limits.ts'
import type { Metadata } from './metadata.ts'
import { confirmEmail, draftEmailUser, unconfirmed } from './new-users.ts'
import type { Services } from './services.ts'
import { createUnusableHash } from './unusable-hash.ts'
import { type MailAsk, mailNobody, mailUser, toMailRequest, userMails } from './user-mail.ts'

export interface MagicLinkAsk extends MailAsk {
  /** Of a user who is made. */
  readonly data: Metadata
  /** What becomes of somebody who has no account. `ignore` tells nobody that they have none. */
  readonly newcomer: 'create' | 'ignore' | 'refuse'
}

/**
 * Reference 3.9. Who is unknown is signed up, and their first link confirms the address; who is known
 * gets a link to sign in. @throws {ApiError}
 */
export async function requestMagicLink(services: Services, ask: MagicLinkAsk): Promise<void> {
  const { db } = services
  const find = async () => (await db.run<UserRow>(findUserByEmail, [ask.email, ask.audience]))[0]
  const known = await find()
  if (known !== undefined) return mailKnown(services, ask, known)
  if (ask.newcomer === 'ignore') return mailNobody(services)
  if (ask.newcomer === 'refuse') throw new ApiError('otp_disabled', 'Signups not allowed for otp')
  checkSignupAllowed(services)
  try {
    await createNewcomer(services, ask)
  } catch (error) {
    if (!isTaken(error, 'users_email')) throw error
    // Somebody was faster, since we looked; or the address belongs to another audience.
    const other = await find()
    return other === undefined ? mailNobody(services) : mailKnown(services, ask, other)
  }
}

async function mailKnown(services: Services, ask: MagicLinkAsk, user: UserRow): Promise<void> {
  if (user.email_confirmed_at !== null || services.config.mail.autoconfirm) {
    return mailUser(services, ask, user, userMails.magicLink)
  }
  checkSignupAllowed(services)
  return mailUser(services, ask, user, userMails.confirmation)
}

async function createNewcomer(services: Services, ask: MagicLinkAsk): Promise<void> {
  const { db, config } = services
  const now = new Date(services.now())
  const draft = draftEmailUser(ask.email, {
    aud: ask.audience,
    role: config.tokens.defaultGroup,
    data: ask.data,
  })
  const common = {
    ...unconfirmed,
    encrypted_password: createUnusableHash(),
    now,
    ip: ask.client.ip,
  }
  const actor = { ...draft, is_sso_user: false }
  if (config.mail.autoconfirm) {
    const confirmed: NewUser = {
      ...confirmEmail(draft),
      ...common,
      email_confirmed_at: now,
      audit: toAuditEntry('user_signedup', actor, { provider: 'email' }),
      token: null,
      flow: null,
      messages: [],
      cap_most: null,
      cap_refill_ms: null,
    }
    const [user] = await db.run<UserRow>(createUser, [confirmed])
    if (user !== undefined) await mailUser(services, ask, user, userMails.magicLink)
    return
  }
  const { token, flow, message } = services.mail.plan(toMailRequest(ask, userMails.confirmation))
  const waiting: NewUser = {
    ...draft,
    ...common,
    confirmation_sent_at: now,
    audit: toAuditEntry(userMails.confirmation.action, actor),
    token,
    flow,
    messages: [message],
    ...toCapParts(config.limits.emailSent),
  }
  const [user] = await db.run<UserRow>(createUser, [waiting])
  if (user === undefined) throw await toCapError(db, config.limits.emailSent, now)
  services.wakeMessages()
}

function checkSignupAllowed({ config: { site } }: Services): void {
  if (!site.disableSignup) return
  throw new ApiError('signup_disabled', 'Signups not allowed for this instance')
}
