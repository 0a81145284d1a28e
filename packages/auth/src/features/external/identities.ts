import { checkAuthorized } from '../../addresses.ts'
import { ApiError } from '../../errors.ts'
import { countCode } from '../../messages/requests/daily-codes.ts'
import {
  secondsUntilDue,
  toCapError,
  toCapParts,
  toCooldownError,
} from '../../messages/requests/message-cooldowns.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import {
  type ExternalEmail,
  findMainEmail,
} from '../../plugins/providers/oauth/external-profile.ts'
import type { Services } from '../../services.ts'
import { omitKeys } from '../../stored-json.ts'
import { planEmailChange } from '../account/address-changes.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { isBelowLevel, type Person } from '../sessions/assurance-level.ts'
import type { Client } from '../sessions/sessions.ts'
import { findCaller } from '../sessions/statements/sessions.ts'
import { reservedKeys } from '../users/metadata.ts'
import { findUserById, type IdentityRow, type UserRow } from '../users/statements/user-row.ts'
import { emailExists } from '../users/taken-errors.ts'
import {
  applyChange,
  checkBan,
  findCandidateUsers,
  type ProviderSignIn,
  planLinked,
  toChange,
  toParts,
} from './account-changes.ts'
import { type Unlinking, unlinkIdentity as unlink } from './statements/external-accounts.ts'

/** @throws {ApiError} when manual linking is disabled. */
export function checkManualLinking({ config }: Services): void {
  if (config.site.manualLinking) return
  throw new ApiError('manual_linking_disabled', 'Manual linking is disabled')
}

/**
 * An identity gives access to the account, as an email address does. A user with a second factor
 * must therefore verify it first, so that a stolen password is not enough to add or remove an
 * identity. @throws {ApiError}
 */
export function requireLinker(services: Services, person: Pick<Person, 'factors' | 'aal'>): void {
  checkManualLinking(services)
  if (!isBelowLevel(person)) return
  throw new ApiError(
    'insufficient_aal',
    'AAL2 session is required to link or unlink identities when MFA is enabled.',
    { status: 401 },
  )
}

/** The user who requested another identity, and the session of the request. */
export interface LinkingTarget {
  readonly userId: string
  /** Null when the token has no session. */
  readonly sessionId: string | null
}

interface Linkable {
  readonly user: UserRow
  /** The address that the user gets from the identity. */
  readonly main: ExternalEmail | undefined
}

/** The checks before anything is written. @throws {ApiError} */
export async function checkLinkable(
  services: Services,
  { userId, sessionId }: LinkingTarget,
  signIn: Pick<ProviderSignIn, 'provider' | 'profile'>,
): Promise<Linkable> {
  const user = await findLinker(services, userId, sessionId)
  const candidates = await findCandidateUsers(services, signIn)
  const owner = candidates.find(({ has_identity: isOwner }) => isOwner)
  if (owner !== undefined) throw alreadyLinked(owner.id === userId)
  const main = user.email === null ? findMainEmail(signIn.profile.emails) : undefined
  if (main && candidates.some(({ id, email }) => id !== userId && email === main.email)) {
    throw emailExists()
  }
  return { user, main }
}

/** Checks the session again: minutes may have passed, and it may have been revoked since. */
async function findLinker(
  services: Services,
  userId: string,
  sessionId: string | null,
): Promise<UserRow> {
  const [user] = await services.db.run(findCaller, { userId, sessionId })
  if (user === undefined || user.deleted_at !== null) {
    throw new ApiError('user_not_found', 'User from sub claim in JWT does not exist')
  }
  if (sessionId !== null && (user.session_id === null || user.session_revoked_at !== null)) {
    throw new ApiError('session_not_found', 'Session from session_id claim in JWT does not exist')
  }
  checkBan(services, user)
  requireLinker(services, user)
  return user
}

/**
 * Links another identity to a user. A user without an address gets the identity's address and is no
 * longer anonymous. @throws {ApiError}
 */
export async function linkIdentity(
  services: Services,
  target: LinkingTarget,
  signIn: ProviderSignIn,
): Promise<UserRow> {
  const { config } = services
  const { user, main } = await checkLinkable(services, target, signIn)
  const confirms = main !== undefined && (main.isVerified || config.mail.autoconfirm)
  const emailToConfirm = main !== undefined && !confirms ? main.email : undefined
  if (emailToConfirm !== undefined)
    await countCode(services, { channel: 'email', name: emailToConfirm })
  const now = new Date(services.now())
  const linked = toChange(services, signIn, user)
  const changed = await applyChange(services, {
    ...linked,
    ...toParts(services, signIn, now, null),
    ...(emailToConfirm !== undefined &&
      planEmailConfirmation(services, user, signIn, emailToConfirm)),
    // The user's name and picture stay as they are; the identity only adds what is missing. It does
    // not describe an address that the account already has.
    keeps_metadata: true,
    user_metadata:
      user.email === null ? linked.user_metadata : omitKeys(linked.user_metadata, reservedKeys),
    email: confirms ? main.email : null,
    confirms,
    audit: toAuditEntry('identity_linked', user, { provider: signIn.provider.id }),
    notices: planLinked(services, user, signIn),
  })
  if (changed === undefined) {
    throw emailToConfirm === undefined
      ? alreadyLinked(false)
      : await toCapError(services, 'email', now)
  }
  if (emailToConfirm === undefined) return changed
  services.wakeMessages()
  throw new ApiError(
    'email_not_confirmed',
    `Unverified email with ${signIn.provider.id}. A confirmation email has been sent to your ${signIn.provider.id} email`,
    { status: 422 },
  )
}

/**
 * The account already has an owner, so the new address is confirmed like a change with PUT /user:
 * the link confirms the address but does not sign in the person who opens it. @throws {ApiError}
 */
function planEmailConfirmation(
  services: Services,
  user: UserRow,
  signIn: ProviderSignIn,
  newEmail: string,
) {
  const { mail, limits } = services.config
  checkAuthorized(services, newEmail)
  const waitSeconds = secondsUntilDue(user.email_change_sent_at, mail.cooldownMs, services.now())
  if (waitSeconds > 0) throw toCooldownError('email', waitSeconds)
  const { redirectTo, externalUrl } = signIn
  const request = { user, newEmail, challenge: undefined, redirectTo, externalUrl }
  const { tokens, messages } = planEmailChange(services, request)
  return { email_change: newEmail, token: tokens, messages, ...toCapParts(limits.emailSent) }
}

function alreadyLinked(isOwn: boolean): ApiError {
  const whose = isOwn ? '' : ' to another user'
  return new ApiError('identity_already_exists', `Identity is already linked${whose}`)
}

/**
 * Unlinks an identity from a user who has others. This never changes the address of the account,
 * because such a change must be confirmed by both mailboxes. The last identity with that address
 * therefore stays until the user changes the address. @throws {ApiError}
 */
export async function unlinkIdentity(
  services: Services,
  user: Person,
  identityId: string,
  client: Client,
): Promise<void> {
  requireLinker(services, user)
  const identity = checkUnlinkable(user, identityId)
  const { id, payload } = toAuditEntry('identity_unlinked', user, {
    identity_id: identityId,
    provider: identity.provider,
    provider_id: identity.provider_id,
  })
  const notices = planNotices(services, 'identity_unlinked', user, { Provider: identity.provider })
  const unlinking: Unlinking = {
    user_id: user.id,
    identity_id: identityId,
    now: new Date(services.now()),
    ip: client.ip,
    audit_id: id,
    audit_payload: payload,
    notices,
  }
  const [gone] = await services.db.run(unlink, unlinking)
  if (gone === undefined) {
    // A concurrent request has changed the account.
    const [present] = await services.db.run(findUserById, { id: user.id })
    if (present !== undefined) checkUnlinkable(present, identityId)
    throw new ApiError('conflict', 'The account is being changed, please try again')
  }
  if (notices.length > 0) services.wakeMessages()
}

/** The statement applies the same rules. @throws {ApiError} */
function checkUnlinkable(user: UserRow, identityId: string): IdentityRow {
  const identity = user.identities.find(({ id }) => id === identityId)
  if (identity === undefined) {
    throw new ApiError('identity_not_found', "Identity doesn't exist")
  }
  const rest = user.identities.filter(({ id }) => id !== identityId)
  if (rest.length === 0) {
    throw new ApiError(
      'single_identity_not_deletable',
      'User must have at least 1 identity after unlinking',
    )
  }
  const carriesEmail = ({ provider, email }: IdentityRow) =>
    provider !== 'phone' && email !== null && email === user.email
  if (carriesEmail(identity) && !rest.some(carriesEmail)) {
    throw new ApiError(
      'email_conflict_identity_not_deletable',
      'Unable to unlink identity due to email conflict: no other identity has the email address of the account. Change the email address first',
    )
  }
  return identity
}
