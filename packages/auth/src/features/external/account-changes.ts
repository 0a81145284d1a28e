import { randomUUID } from 'node:crypto'
import { checkAuthorized } from '../../addresses.ts'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import { toCapParts } from '../../messages/requests/message-cooldowns.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import { toMailRequest, userMails } from '../../messages/requests/user-mail.ts'
import type { AccountClaim, Notice, RequestParts } from '../../messages/statements/request-parts.ts'
import {
  type ExternalProfile,
  findMainEmail,
  toIdentityData,
} from '../../plugins/providers/oauth/external-profile.ts'
import type { ExternalProvider } from '../../plugins/providers/oauth/provider.ts'
import type { Services } from '../../services.ts'
import type { Client } from '../sessions/sessions.ts'
import type { NewIdentity } from '../user-changes/statements/create-user.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import {
  type CandidateRow,
  changeExternally,
  type ExternalChange,
  findCandidates,
} from './statements/external-accounts.ts'

/** A sign-in at a provider, with the profile that the provider returned. */
export interface ProviderSignIn {
  readonly provider: Pick<ExternalProvider, 'id' | 'isEmailOptional'>
  readonly profile: ExternalProfile
  readonly audience: string
  readonly client: Client
  /** For a confirmation email, if one is needed. */
  readonly redirectTo: string
  readonly externalUrl: string
}

export async function findCandidateUsers(
  { db }: Services,
  { provider, profile }: Pick<ProviderSignIn, 'provider' | 'profile'>,
): Promise<readonly CandidateRow[]> {
  const verified = profile.emails.filter(({ isVerified }) => isVerified)
  return db.run(findCandidates, {
    provider: provider.id,
    id: profile.id,
    verifiedEmails: verified.map(({ email }) => email),
    mainEmail: findMainEmail(profile.emails)?.email ?? null,
  })
}

/** @param ip the client's IP address, if this is a sign-in. */
export function checkBan({ now, signInLog }: Services, user: UserRow, ip?: string): void {
  if (user.banned_until !== null && Date.parse(user.banned_until) > now()) {
    const name = user.email ?? user.phone ?? ''
    if (ip !== undefined) {
      signInLog.noteFailure({ reason: 'banned', name, audience: user.aud, userId: user.id, ip })
    }
    throw new ApiError('user_banned', 'User is banned')
  }
}

/** Adds an identity to a user and changes nothing else. */
export function toChange(
  services: Services,
  signIn: Pick<ProviderSignIn, 'provider' | 'profile'>,
  user: Pick<UserRow, 'id'>,
): Omit<ExternalChange, keyof RequestParts> {
  const identity = toNewIdentity(services, signIn)
  return {
    user_id: user.id,
    identity,
    user_metadata: identity.identity_data,
    keeps_metadata: false,
    most_user_metadata: services.config.metadata.mostUserBytes,
    takes_over: false,
    email: null,
    confirms: false,
    email_change: null,
  }
}

/** Notices to the address that the user had before. */
export function planLinked(
  services: Services,
  user: UserRow,
  { provider }: Pick<ProviderSignIn, 'provider'>,
): readonly Notice[] {
  return planNotices(services, 'identity_linked', user, { Provider: provider.id })
}

/**
 * Undefined when nothing was written: in the cases documented at `changeExternally`, and when a
 * concurrent request has taken the address or the identity.
 */
export async function applyChange(
  { db, wakeMessages }: Services,
  values: ExternalChange,
): Promise<UserRow | undefined> {
  try {
    const [user] = await db.run(changeExternally, values)
    if (user && values.notices && values.notices.length > 0) wakeMessages()
    return user
  } catch (error) {
    if (isConcurrentChange(error)) return undefined
    throw error
  }
}

export function isConcurrentChange(error: unknown): boolean {
  return isTaken(error, 'users_email') || isTaken(error, 'identities_provider_provider_id_key')
}

/** If the user confirms an address that the provider has not verified, this identity is kept. */
export function toClaim({ id, identity_data: data }: Pick<NewIdentity, 'id' | 'identity_data'>) {
  return { data, identity_id: id } satisfies AccountClaim
}

/**
 * @param confirmed the address that a message asks to confirm; null when no message is sent.
 * @param claim undefined when the user is already signed in.
 */
export function toParts(
  services: Services,
  signIn: Omit<ProviderSignIn, 'provider' | 'profile'>,
  now: Date,
  confirmed: string | null,
  claim?: AccountClaim,
): Omit<RequestParts, 'audit'> {
  const always = { now, ip: signIn.client.ip, flow: null }
  if (confirmed === null) {
    return { ...always, token: null, messages: [], cap_most: null, cap_refill_ms: null }
  }
  checkAuthorized(services, confirmed)
  const { token, message } = services.mail.plan(
    toMailRequest({ ...signIn, email: confirmed, challenge: undefined }, userMails.confirmation),
  )
  const cap = toCapParts(services.config.limits.emailSent)
  return { ...always, token: { ...token, ...(claim && { claim }) }, messages: [message], ...cap }
}

export function toNewIdentity(
  { config }: Services,
  { provider, profile }: Pick<ProviderSignIn, 'provider' | 'profile'>,
): NewIdentity {
  return {
    id: randomUUID(),
    provider: provider.id,
    provider_id: profile.id,
    identity_data: toIdentityData(profile, config.metadata.mostUserBytes),
  }
}
