import { randomUUID } from 'node:crypto'
import { isTaken } from '../../db/violations.ts'
import { ApiError } from '../../errors.ts'
import { countCode } from '../../messages/requests/daily-codes.ts'
import { secondsUntilDue, toCapError, toCapParts } from '../../messages/requests/message-limits.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import { toMailRequest, tryToMail, userMails } from '../../messages/requests/user-mail.ts'
import type { Notice } from '../../messages/statements/notices.ts'
import type { AccountClaim, RequestParts } from '../../messages/statements/request-parts.ts'
import {
  type ExternalEmail,
  type ExternalProfile,
  findMainEmail,
  toIdentityData,
} from '../../plugins/providers/external-profile.ts'
import type { ExternalProvider } from '../../plugins/providers/provider.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { claimsNothing } from '../one-time-codes/one-time-tokens.ts'
import type { Client } from '../sessions/sessions.ts'
import { checkAuthorized } from '../users/addresses.ts'
import { insertUser, unconfirmed } from '../users/new-users.ts'
import type { NewIdentity } from '../users/statements/create-user.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { type Belonging, findBelonging, findStanding } from './account-linking.ts'
import {
  type CandidateRow,
  changeExternally,
  type ExternalChange,
  findCandidates,
  findInvitedUser,
} from './statements/external-accounts.ts'

/** Somebody has shown who they are at a provider. */
export interface AccountAsk {
  readonly provider: Pick<ExternalProvider, 'id' | 'isEmailOptional'>
  readonly profile: ExternalProfile
  readonly audience: string
  readonly client: Client
  /** For a message that may be needed. */
  readonly redirectTo: string
  readonly externalUrl: string
}

/** Others may change the same accounts at the same time: then it is looked at once more. */
const mostTries = 3

/** The account of somebody who signs in (reference 6.9). @throws {ApiError} */
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

export async function findAll(
  { db }: Services,
  { provider, profile }: Pick<AccountAsk, 'provider' | 'profile'>,
): Promise<readonly CandidateRow[]> {
  const verified = profile.emails.filter(({ isVerified }) => isVerified)
  return db.run(findCandidates, {
    provider: provider.id,
    id: profile.id,
    verifiedEmails: verified.map(({ email }) => email),
    mainEmail: findMainEmail(profile.emails)?.email ?? null,
  })
}

/** Undefined: somebody was faster. */
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
  if (needsMail) await countCode(services, { channel: 'email', name: email.email })
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
    if (!isFine) throw needsVerification(provider.id, needsMail)
    return user
  } catch (error) {
    if (isSomebodyFaster(error)) return undefined
    throw error
  }
}

/** Undefined: the account has changed since. */
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
    throw needsVerification(ask.provider.id, user.email !== null)
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

/** Reference 3.18, step 4. @throws {ApiError} */
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
    // Whoever has the link has the mailbox; what others left in the account before goes.
    takes_over: true,
    confirms: true,
    audit: toAuditEntry('invite_accepted', user, { provider: ask.provider.id }),
  })
  if (changed !== undefined) return changed
  throw new ApiError('identity_already_exists', 'Identity is already linked to another user')
}

/** An identity for a user, and nothing else. */
export function toChange(
  services: Services,
  ask: Pick<AccountAsk, 'provider' | 'profile'>,
  user: Pick<UserRow, 'id'>,
): Omit<ExternalChange, keyof RequestParts> {
  const identity = toNewIdentity(services, ask)
  return {
    user_id: user.id,
    identity,
    user_metadata: identity.identity_data,
    most_user_metadata: services.config.metadata.mostUserBytes,
    takes_over: false,
    email: null,
    confirms: false,
    email_change: null,
  }
}

/** To the address that the user had before. */
export function planLinked(
  services: Services,
  user: UserRow,
  { provider }: Pick<AccountAsk, 'provider'>,
): readonly Notice[] {
  return planNotices(services, 'identity_linked', user, { Provider: provider.id })
}

/** Undefined: somebody has changed the same things meanwhile, and nothing was written. */
export async function change(
  { db, wakeMessages }: Services,
  values: ExternalChange,
): Promise<UserRow | undefined> {
  try {
    const [user] = await db.run(changeExternally, values)
    if (user && values.notices && values.notices.length > 0) wakeMessages()
    return user
  } catch (error) {
    if (isSomebodyFaster(error)) return undefined
    throw error
  }
}

function isSomebodyFaster(error: unknown): boolean {
  return isTaken(error, 'users_email') || isTaken(error, 'identities_provider_provider_id_key')
}

/** Who confirms the address that a provider has not verified keeps the identity they came with. */
function toClaim({ id, identity_data: data }: Pick<NewIdentity, 'id' | 'identity_data'>) {
  return { data, identity_id: id } satisfies AccountClaim
}

/**
 * @param confirmed the address that a message asks to confirm; null: no message.
 * @param claim undefined: of a user who has signed in.
 */
export function toParts(
  services: Services,
  ask: Omit<AccountAsk, 'provider' | 'profile'>,
  now: Date,
  confirmed: string | null,
  claim?: AccountClaim,
): Omit<RequestParts, 'audit'> {
  const always = { now, ip: ask.client.ip, flow: null }
  if (confirmed === null) {
    return { ...always, token: null, messages: [], cap_most: null, cap_refill_ms: null }
  }
  checkAuthorized(services, confirmed)
  const { token, message } = services.mail.plan(
    toMailRequest({ ...ask, email: confirmed, challenge: undefined }, userMails.confirmation),
  )
  const cap = toCapParts(services.config.limits.emailSent)
  return { ...always, token: { ...token, ...(claim && { claim }) }, messages: [message], ...cap }
}

function toNewIdentity(
  { config }: Services,
  { provider, profile }: Pick<AccountAsk, 'provider' | 'profile'>,
): NewIdentity {
  return {
    id: randomUUID(),
    provider: provider.id,
    provider_id: profile.id,
    identity_data: toIdentityData(profile, config.metadata.mostUserBytes),
  }
}

/** Not more often than any other message of that kind. */
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

/** @param ip the address of the client, where this is a sign-in. */
export function checkBan({ now, signInLog }: Services, user: UserRow, ip?: string): void {
  if (user.banned_until !== null && Date.parse(user.banned_until) > now()) {
    const name = user.email ?? user.phone ?? ''
    if (ip !== undefined) {
      signInLog.noteFailure({ reason: 'banned', name, audience: user.aud, userId: user.id, ip })
    }
    throw new ApiError('user_banned', 'User is banned')
  }
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
