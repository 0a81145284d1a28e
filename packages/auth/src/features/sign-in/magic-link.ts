import { ApiError } from '../../errors.ts'
import { toCapParts, toRefusalError } from '../../messages/requests/message-cooldowns.ts'
import {
  type ClientMailRequest,
  deferMail,
  mailCooldowns,
  mailUser,
  simulateMail,
  skipCooldown,
  toMailCooldown,
  toMailRequest,
  type UserMail,
  userMails,
} from '../../messages/requests/user-mail.ts'
import { claimsNothing } from '../../messages/statements/request-parts.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { confirmEmail, draftEmailUser, insertUser, unconfirmed } from '../user-changes/new-users.ts'
import {
  hidesDisabledSignup,
  maySignIn,
  type Newcomer,
  signUpUnlessKnown,
} from '../user-changes/sign-up-allowed.ts'
import type { NewUser } from '../user-changes/statements/create-user.ts'
import { findUserByEmail, type UserRow } from '../users/statements/user-row.ts'

export interface MagicLinkRequest extends ClientMailRequest {
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
export type DeferredMagicLink = Omit<MagicLinkRequest, 'newcomer'>

/** @throws {ApiError} */
export function checkMagicLinkAllowed({ config: { site } }: Services): void {
  if (!site.emailEnabled) {
    throw new ApiError('email_provider_disabled', 'Email logins are disabled')
  }
  if (!site.magicLinkEnabled) {
    throw new ApiError('email_provider_disabled', 'Login with magic link is disabled')
  }
}

/**
 * Signs up an unknown user, if that is allowed. Their first link confirms the address. Known users
 * get a link to sign in. @throws {ApiError}
 */
export async function requestMagicLink(
  services: Services,
  request: MagicLinkRequest,
): Promise<void> {
  const { newcomer, ...deferred } = request
  if (newcomer === 'ignore' || hidesDisabledSignup(services)) {
    return deferMail(services, deferred, mailCooldowns.magicLink, 'magic_link')
  }
  const user = await signUpUnlessKnown({
    services,
    newcomer,
    constraint: 'users_email',
    find: () => findUser(services, request),
    create: () => createNewcomer(services, request),
  })
  if (user === undefined) return simulateMail(services, request, mailCooldowns.magicLink)
  if (user !== 'created') await mailKnown(services, request, user)
}

/** Handles a stored request. @throws {ApiError} */
export async function sendMagicLink(services: Services, request: DeferredMagicLink): Promise<void> {
  const user = await findUser(services, request)
  if (user === undefined || !maySignIn(services, user)) return
  await mailKnown(services, request, user, skipCooldown)
}

async function findUser({ db }: Services, { email, audience }: ClientMailRequest) {
  return (await db.run(findUserByEmail, { email, audience }))[0]
}

async function mailKnown(
  services: Services,
  request: DeferredMagicLink,
  user: UserRow,
  prepare: (mail: UserMail) => UserMail = (mail) => mail,
): Promise<void> {
  if (user.email_confirmed_at !== null) {
    return mailUser(services, request, user, prepare(userMails.magicLink), claimsNothing)
  }
  const data = toDraft(services, request, user.id).raw_user_meta_data
  return mailUser(services, request, user, prepare(findFirstMail(services, request)), { data })
}

/**
 * A confirmation has the same cooldown as a link, so that it does not reveal the state of the
 * account.
 */
function findFirstMail({ config }: Services, { firstMail }: DeferredMagicLink) {
  return config.mail.autoconfirm
    ? userMails.magicLink
    : { ...userMails[firstMail], cooldown: mailCooldowns.magicLink }
}

function toDraft({ config }: Services, { email, audience, data }: DeferredMagicLink, id?: string) {
  const role = config.tokens.defaultGroup
  return draftEmailUser(email, { id, aud: audience, role, data })
}

async function createNewcomer(services: Services, request: MagicLinkRequest): Promise<void> {
  const { config } = services
  const { autoconfirm } = config.mail
  const now = new Date(services.now())
  const draft = toDraft(services, request)
  const actor = { ...draft, is_sso_user: false }
  const mail = findFirstMail(services, request)
  const { token, flow, message } = services.mail.plan(toMailRequest(request, mail))
  const cooldown = toMailCooldown(services, request, mail.cooldown)
  const newcomer: NewUser = {
    ...(autoconfirm ? confirmEmail(draft) : draft),
    ...unconfirmed,
    encrypted_password: services.passwords.createUnusable(),
    email_confirmed_at: autoconfirm ? now : null,
    [mail.sentAt]: now,
    now,
    ip: request.client.ip,
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
    ...cooldown,
  }
  const user = await insertUser(services, newcomer)
  if (user === undefined) throw await toRefusalError(services, 'email', cooldown, now)
  services.wakeMessages()
}
