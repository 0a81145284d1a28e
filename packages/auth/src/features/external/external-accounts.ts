import { randomUUID } from 'node:crypto'
import { checkAuthorized } from '../../addresses.ts'
import { ApiError } from '../../errors.ts'
import { countCode } from '../../messages/requests/daily-codes.ts'
import { secondsUntilDue, toCapError } from '../../messages/requests/message-cooldowns.ts'
import { tryToMail, userMails } from '../../messages/requests/user-mail.ts'
import { claimsNothing } from '../../messages/statements/request-parts.ts'
import type { ExternalEmail } from '../../plugins/providers/oauth/external-profile.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { insertUser, unconfirmed } from '../user-changes/new-users.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import {
  applyChange,
  checkBan,
  findCandidateUsers,
  isConcurrentChange,
  type ProviderSignIn,
  planLinked,
  toChange,
  toClaim,
  toNewIdentity,
  toParts,
} from './account-changes.ts'
import { type AccountMatch, decideEmail, matchAccount } from './account-linking.ts'
import { type CandidateRow, findInvitedUser } from './statements/external-accounts.ts'

/** If a concurrent request changes the same accounts, the lookup is repeated. */
const mostTries = 3

/** Finds or creates the account of a user who signs in with a provider. @throws {ApiError} */
export async function findOrCreateAccount(
  services: Services,
  signIn: ProviderSignIn,
): Promise<UserRow> {
  for (let tries = 1; tries <= mostTries; tries++) {
    const candidates = await findCandidateUsers(services, signIn)
    const match = matchAccount(candidates, signIn.profile, signIn.audience)
    const user =
      match.kind === 'new'
        ? await createAccount(services, signIn, match.email)
        : await updateAccount(services, signIn, match, candidates)
    if (user !== undefined) return user
  }
  throw new ApiError('conflict', 'The account is being changed, please try again')
}

/** Undefined when a concurrent request created the account. */
async function createAccount(
  services: Services,
  signIn: ProviderSignIn,
  email: ExternalEmail | undefined,
): Promise<UserRow | undefined> {
  const { config } = services
  const { provider, audience } = signIn
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
  const identity = toNewIdentity(services, signIn)
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
      ...toParts(services, signIn, now, needsMail ? actor.email : null, toClaim(identity)),
      audit: toAuditEntry('user_signedup', actor, { provider: provider.id }),
    })
    if (user === undefined) throw await toCapError(services, 'email', now)
    if (needsMail) services.wakeMessages()
    const maySignIn =
      isConfirmed || (email === undefined && (autoconfirm || provider.isEmailOptional))
    if (!maySignIn && !config.mail.allowsUnverified) throw needsVerification(provider.id, needsMail)
    return user
  } catch (error) {
    if (isConcurrentChange(error)) return undefined
    throw error
  }
}

/** Undefined when the account has changed since it was read. */
async function updateAccount(
  services: Services,
  signIn: ProviderSignIn,
  match: Exclude<AccountMatch, { kind: 'new' }>,
  candidates: readonly CandidateRow[],
): Promise<UserRow | undefined> {
  const { kind, user } = match
  checkBan(services, user, signIn.client.ip)
  const decision = decideEmail(match, signIn.profile, {
    autoconfirms: services.config.mail.autoconfirm,
    isEmailOptional: signIn.provider.isEmailOptional,
    isTaken: (email) => candidates.some((other) => other.id !== user.id && other.email === email),
  })
  if (decision.mustConfirm) {
    await resendConfirmation(services, signIn, user)
    if (!services.config.mail.allowsUnverified) {
      throw needsVerification(signIn.provider.id, user.email !== null)
    }
  }
  const now = new Date(services.now())
  return applyChange(services, {
    ...toChange(services, signIn, user),
    ...toParts(services, signIn, now, null),
    takes_over: decision.takesOver,
    confirms: decision.confirms,
    email: decision.email,
    audit:
      kind === 'known'
        ? []
        : toAuditEntry('identity_linked', user, { provider: signIn.provider.id }),
    notices: kind === 'known' ? [] : planLinked(services, user, signIn),
  })
}

/** Accepts an invitation with an identity of a provider. @throws {ApiError} */
export async function acceptInvitation(
  services: Services,
  tokenHash: string,
  signIn: ProviderSignIn,
): Promise<UserRow> {
  const now = new Date(services.now())
  const [user] = await services.db.run(findInvitedUser, { tokenHash, now })
  if (user === undefined) {
    throw new ApiError('user_not_found', 'User identified by token not found')
  }
  checkBan(services, user, signIn.client.ip)
  if (!signIn.profile.emails.some(({ email }) => email === user.email)) {
    const message = 'Invited email does not match emails from external provider'
    throw new ApiError('bad_oauth_callback', message)
  }
  const changed = await applyChange(services, {
    ...toChange(services, signIn, user),
    ...toParts(services, signIn, now, null),
    // The link proves that the user owns the mailbox, so data that others left in the account is
    // removed.
    takes_over: true,
    confirms: true,
    audit: toAuditEntry('invite_accepted', user, { provider: signIn.provider.id }),
  })
  if (changed !== undefined) return changed
  throw new ApiError('identity_already_exists', 'Identity is already linked to another user')
}

/** Sends the confirmation email again, unless its cooldown is still running. */
async function resendConfirmation(
  services: Services,
  signIn: ProviderSignIn,
  user: UserRow,
): Promise<void> {
  if (user.email === null) return
  const { cooldownMs } = services.config.mail
  if (secondsUntilDue(user.confirmation_sent_at, cooldownMs, services.now()) > 0) return
  checkAuthorized(services, user.email)
  await countCode(services, { channel: 'email', name: user.email })
  const mail = { ...signIn, email: user.email, challenge: undefined }
  const known = user.identities.find(
    ({ provider, provider_id: id }) => provider === signIn.provider.id && id === signIn.profile.id,
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
