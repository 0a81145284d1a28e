import { randomUUID } from 'node:crypto'
import { ApiError } from '../../errors.ts'
import { countCode } from '../../messages/requests/daily-codes.ts'
import { secondsUntilDue, toCapError } from '../../messages/requests/message-gaps.ts'
import { tryToMail, userMails } from '../../messages/requests/user-mail.ts'
import type { ExternalEmail } from '../../plugins/providers/oauth/external-profile.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { claimsNothing } from '../one-time-codes/one-time-tokens.ts'
import { checkAuthorized } from '../users/addresses.ts'
import { insertUser, unconfirmed } from '../users/new-users.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import {
  type AccountAsk,
  change,
  checkBan,
  findAll,
  isConcurrentChange,
  planLinked,
  toChange,
  toClaim,
  toNewIdentity,
  toParts,
} from './account-changes.ts'
import { type Belonging, findBelonging, findStanding } from './account-linking.ts'
import { type CandidateRow, findInvitedUser } from './statements/external-accounts.ts'

/** If a concurrent request changes the same accounts, the lookup is repeated. */
const mostTries = 3

/** Finds or creates the account of a user who signs in with a provider. @throws {ApiError} */
export async function enterAccount(services: Services, ask: AccountAsk): Promise<UserRow> {
  for (let tries = 1; tries <= mostTries; tries++) {
    const candidates = await findAll(services, ask)
    const belonging = findBelonging(candidates, ask.profile, ask.audience)
    const user =
      belonging.kind === 'new'
        ? await createAccount(services, ask, belonging.email)
        : await enterExisting(services, ask, belonging, candidates)
    if (user !== undefined) return user
  }
  throw new ApiError('conflict', 'The account is being changed, please try again')
}

/** Undefined when a concurrent request created the account. */
async function createAccount(
  services: Services,
  ask: AccountAsk,
  email: ExternalEmail | undefined,
): Promise<UserRow | undefined> {
  const { db, config } = services
  const { provider, audience } = ask
  if (config.site.disableSignup) {
    throw new ApiError('signup_disabled', 'Signups not allowed for this instance')
  }
  const { autoconfirm } = config.mail
  const isConfirmed = email !== undefined && (email.isVerified || autoconfirm)
  const needsMail = email !== undefined && !isConfirmed
  if (needsMail) {
    await services.emailCheck?.check(email.email)
    await countCode(services, { channel: 'email', name: email.email })
  }
  const now = new Date(services.now())
  const identity = toNewIdentity(services, ask)
  const actor = { id: randomUUID(), email: email?.email ?? null, phone: null, is_sso_user: false }
  try {
    const user = await insertUser(services, {
      ...unconfirmed,
      id: actor.id,
      aud: audience,
      role: config.tokens.defaultGroup,
      email: actor.email,
      phone: null,
      email_confirmed_at: isConfirmed ? now : null,
      confirmation_sent_at: needsMail ? now : null,
      raw_app_meta_data: { provider: provider.id, providers: [provider.id] },
      raw_user_meta_data: identity.identity_data,
      is_anonymous: false,
      identities: [identity],
      ...toParts(services, ask, now, needsMail ? actor.email : null, toClaim(identity)),
      audit: toAuditEntry('user_signedup', actor, { provider: provider.id }),
    })
    if (user === undefined) throw await toCapError(db, config.limits.emailSent, now)
    if (needsMail) services.wakeMessages()
    const isFine = isConfirmed || (email === undefined && (autoconfirm || provider.isEmailOptional))
    if (!isFine && !config.mail.allowsUnverified) throw needsVerification(provider.id, needsMail)
    return user
  } catch (error) {
    if (isConcurrentChange(error)) return undefined
    throw error
  }
}

/** Undefined when the account has changed since it was read. */
async function enterExisting(
  services: Services,
  ask: AccountAsk,
  belonging: Exclude<Belonging, { kind: 'new' }>,
  candidates: readonly CandidateRow[],
): Promise<UserRow | undefined> {
  const { kind, user } = belonging
  checkBan(services, user, ask.client.ip)
  const standing = findStanding(belonging, ask.profile, {
    autoconfirms: services.config.mail.autoconfirm,
    isEmailOptional: ask.provider.isEmailOptional,
    isTaken: (email) => candidates.some((other) => other.id !== user.id && other.email === email),
  })
  if (standing.mustConfirm) {
    await mailAgain(services, ask, user)
    if (!services.config.mail.allowsUnverified) {
      throw needsVerification(ask.provider.id, user.email !== null)
    }
  }
  const now = new Date(services.now())
  return change(services, {
    ...toChange(services, ask, user),
    ...toParts(services, ask, now, null),
    takes_over: standing.takesOver,
    confirms: standing.confirms,
    email: standing.email,
    audit:
      kind === 'known' ? [] : toAuditEntry('identity_linked', user, { provider: ask.provider.id }),
    notices: kind === 'known' ? [] : planLinked(services, user, ask),
  })
}

/** Accepts an invitation with an identity of a provider. @throws {ApiError} */
export async function acceptInvitation(
  services: Services,
  tokenHash: string,
  ask: AccountAsk,
): Promise<UserRow> {
  const now = new Date(services.now())
  const [user] = await services.db.run(findInvitedUser, { tokenHash, now })
  if (user === undefined) {
    throw new ApiError('user_not_found', 'User identified by token not found')
  }
  checkBan(services, user, ask.client.ip)
  if (!ask.profile.emails.some(({ email }) => email === user.email)) {
    const message = 'Invited email does not match emails from external provider'
    throw new ApiError('bad_oauth_callback', message)
  }
  const changed = await change(services, {
    ...toChange(services, ask, user),
    ...toParts(services, ask, now, null),
    // The link proves that the user owns the mailbox, so data that others left in the account is
    // removed.
    takes_over: true,
    confirms: true,
    audit: toAuditEntry('invite_accepted', user, { provider: ask.provider.id }),
  })
  if (changed !== undefined) return changed
  throw new ApiError('identity_already_exists', 'Identity is already linked to another user')
}

/** Respects the cooldown of confirmation emails. */
async function mailAgain(services: Services, ask: AccountAsk, user: UserRow): Promise<void> {
  if (user.email === null) return
  const { gapMs } = services.config.mail
  if (secondsUntilDue(user.confirmation_sent_at, gapMs, services.now()) > 0) return
  checkAuthorized(services, user.email)
  await countCode(services, { channel: 'email', name: user.email })
  const mail = { ...ask, email: user.email, challenge: undefined }
  const known = user.identities.find(
    ({ provider, provider_id: id }) => provider === ask.provider.id && id === ask.profile.id,
  )
  const claim = known === undefined ? claimsNothing : toClaim(known)
  const refusal = await tryToMail(services, mail, user, userMails.confirmation, claim)
  if (refusal?.why === 'cap') throw refusal.error
}

function needsVerification(provider: string, isSent: boolean): ApiError {
  const what = isSent
    ? `A confirmation email has been sent to your ${provider} email`
    : `Verify the email with ${provider} in order to sign in`
  return new ApiError(
    'provider_email_needs_verification',
    `Unverified email with ${provider}. ${what}`,
  )
}
