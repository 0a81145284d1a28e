import { toCapParts } from '../../messages/requests/message-gaps.ts'
import {
  afterWait,
  deferMail,
  type MailAsk,
  mailNobody,
  mailUser,
  mailWaits,
  toMailError,
  toMailGap,
  toMailRequest,
  type UserMail,
  userMails,
} from '../../messages/requests/user-mail.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { claimsNothing } from '../one-time-codes/one-time-tokens.ts'
import type { Metadata } from '../users/metadata.ts'
import { confirmEmail, draftEmailUser, insertUser, unconfirmed } from '../users/new-users.ts'
import {
  hidesDisabledSignup,
  mayFinish,
  type Newcomer,
  signUpUnlessKnown,
} from '../users/sign-up-allowed.ts'
import type { NewUser } from '../users/statements/create-user.ts'
import { findUserByEmail, type UserRow } from '../users/statements/user-row.ts'

export interface MagicLinkAsk extends MailAsk {
  /** The metadata of a user who is created. */
  readonly data: Metadata
  readonly newcomer: Newcomer
  /**
   * The message for users who have not confirmed their address. The default is a magic link;
   * clients of Supabase Auth expect the message of a sign-up.
   */
  readonly firstMail: 'confirmation' | 'magicLink'
}

/** The stored request when no user is created. */
export type DeferredMagicLink = Omit<MagicLinkAsk, 'newcomer'>

/**
 * Signs up an unknown user, if that is allowed. Their first link confirms the address. Known users
 * get a link to sign in. @throws {ApiError}
 */
export async function requestMagicLink(services: Services, ask: MagicLinkAsk): Promise<void> {
  const { newcomer, ...deferred } = ask
  if (newcomer === 'ignore' || hidesDisabledSignup(services)) {
    return deferMail(services, deferred, mailWaits.magicLink, 'magic_link')
  }
  const user = await signUpUnlessKnown({
    services,
    newcomer,
    constraint: 'users_email',
    find: () => findUser(services, ask),
    create: () => createNewcomer(services, ask),
  })
  if (user === undefined) return mailNobody(services, ask, mailWaits.magicLink)
  if (user !== 'created') await mailKnown(services, ask, user)
}

/** Handles a stored request. @throws {ApiError} */
export async function sendMagicLink(services: Services, ask: DeferredMagicLink): Promise<void> {
  const user = await findUser(services, ask)
  if (user === undefined || !mayFinish(services, user)) return
  await mailKnown(services, ask, user, afterWait)
}

async function findUser({ db }: Services, { email, audience }: MailAsk) {
  return (await db.run(findUserByEmail, { email, audience }))[0]
}

async function mailKnown(
  services: Services,
  ask: DeferredMagicLink,
  user: UserRow,
  prepare: (mail: UserMail) => UserMail = (mail) => mail,
): Promise<void> {
  if (user.email_confirmed_at !== null) {
    return mailUser(services, ask, user, prepare(userMails.magicLink), claimsNothing)
  }
  const data = toDraft(services, ask, user.id).raw_user_meta_data
  return mailUser(services, ask, user, prepare(findFirstMail(services, ask)), { data })
}

/**
 * A confirmation has the same cooldown as a link, so that it does not reveal the state of the
 * account.
 */
function findFirstMail({ config }: Services, { firstMail }: DeferredMagicLink) {
  return config.mail.autoconfirm
    ? userMails.magicLink
    : { ...userMails[firstMail], wait: mailWaits.magicLink }
}

function toDraft({ config }: Services, { email, audience, data }: DeferredMagicLink, id?: string) {
  const role = config.tokens.defaultGroup
  return draftEmailUser(email, { id, aud: audience, role, data })
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
