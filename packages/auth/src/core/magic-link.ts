import type { NewUser } from '../db/create-user.ts'
import type { UserRow } from '../db/user-row.ts'
import { findUserByEmail } from '../db/users.ts'
import { isTaken } from '../db/violations.ts'
import { ApiError } from '../errors.ts'
import { claimsNothing } from './account-claims.ts'
import { toAuditEntry } from './audit.ts'
import { toCapParts } from './email-limits.ts'
import { insertUser } from './insert-user.ts'
import type { Metadata } from './metadata.ts'
import { confirmEmail, draftEmailUser, unconfirmed } from './new-users.ts'
import type { Services } from './services.ts'
import { checkSignupAllowed } from './sign-up-allowed.ts'
import {
  type MailAsk,
  mailNobody,
  mailUser,
  mailWaits,
  toMailError,
  toMailGap,
  toMailRequest,
  type UserMail,
  userMails,
} from './user-mail.ts'

export interface MagicLinkAsk extends MailAsk {
  /** Of a user who is made. */
  readonly data: Metadata
  /** What becomes of somebody who has no account. `ignore` tells nobody that they have none. */
  readonly newcomer: 'create' | 'ignore' | 'refuse'
  /**
   * What somebody gets who has not confirmed their address. To the specification everybody gets a
   * magic link; the client expects what a sign-up would have sent (reference 3.9).
   */
  readonly firstMail: 'confirmation' | 'magicLink'
}

/**
 * Who is unknown is signed up. Their first link confirms the address, whatever it is called; who is
 * known gets a link to sign in. @throws {ApiError}
 */
export async function requestMagicLink(services: Services, ask: MagicLinkAsk): Promise<void> {
  const { db } = services
  const find = async () => (await db.run<UserRow>(findUserByEmail, [ask.email, ask.audience]))[0]
  const known = await find()
  if (known !== undefined) return mailKnown(services, ask, known)
  if (ask.newcomer === 'ignore') return mailNobody(services, ask, mailWaits.magicLink)
  if (ask.newcomer === 'refuse') throw new ApiError('otp_disabled', 'Signups not allowed for otp')
  checkSignupAllowed(services)
  try {
    await createNewcomer(services, ask)
  } catch (error) {
    if (!isTaken(error, 'users_email')) throw error
    // Somebody was faster, since we looked; or the address belongs to another audience.
    const other = await find()
    return other === undefined
      ? mailNobody(services, ask, mailWaits.magicLink)
      : mailKnown(services, ask, other)
  }
}

async function mailKnown(services: Services, ask: MagicLinkAsk, user: UserRow): Promise<void> {
  if (user.email_confirmed_at !== null) {
    return mailUser(services, ask, user, userMails.magicLink, claimsNothing)
  }
  if (!services.config.mail.autoconfirm) checkSignupAllowed(services)
  const data = toDraft(services, ask, user.id).raw_user_meta_data
  return mailUser(services, ask, user, findFirstMail(services, ask), { data })
}

/** A confirmation waits no longer than a link: how long somebody waits must not tell what they are. */
function findFirstMail({ config }: Services, { firstMail }: MagicLinkAsk): UserMail {
  return config.mail.autoconfirm
    ? userMails.magicLink
    : { ...userMails[firstMail], wait: mailWaits.magicLink }
}

function toDraft({ config }: Services, { email, audience, data }: MagicLinkAsk, id?: string) {
  const role = config.tokens.defaultGroup
  return draftEmailUser(email, { ...(id !== undefined && { id }), aud: audience, role, data })
}

async function createNewcomer(services: Services, ask: MagicLinkAsk): Promise<void> {
  const { config } = services
  const { autoconfirm } = config.mail
  const now = new Date(services.now())
  const draft = toDraft(services, ask)
  const actor = { ...draft, is_sso_user: false }
  const mail = findFirstMail(services, ask)
  const { token, flow, message } = services.mail.plan(toMailRequest(ask, mail))
  const gap = toMailGap(services, ask, mail.wait)
  const newcomer: NewUser = {
    ...(autoconfirm ? confirmEmail(draft) : draft),
    ...unconfirmed,
    encrypted_password: services.passwords.createUnusable(),
    email_confirmed_at: autoconfirm ? now : null,
    [mail.sentAt]: now,
    now,
    ip: ask.client.ip,
    audit: autoconfirm
      ? [
          toAuditEntry('user_signedup', actor, { provider: 'email' }),
          toAuditEntry(mail.action, actor),
        ]
      : toAuditEntry(userMails.confirmation.action, actor),
    token: { ...token, claim: { data: draft.raw_user_meta_data } },
    flow,
    messages: [message],
    ...toCapParts(config.limits.emailSent),
    ...gap,
  }
  const user = await insertUser(services, newcomer)
  if (user === undefined) throw await toMailError(services, gap, now)
  services.wakeMessages()
}
