import { ApiError } from '../../errors.ts'
import { countCode } from '../../messages/requests/daily-codes.ts'
import {
  secondsUntilDue,
  toCapError,
  toCapParts,
  toGapError,
} from '../../messages/requests/message-gaps.ts'
import { planNotices } from '../../messages/requests/notifications.ts'
import {
  type ExternalEmail,
  findMainEmail,
} from '../../plugins/providers/oauth/external-profile.ts'
import type { Services } from '../../services.ts'
import { planEmailChange } from '../account/address-changes.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { isBelowLevel, type Person } from '../factors/assurance-level.ts'
import type { Client } from '../sessions/sessions.ts'
import { findCaller } from '../sessions/statements/sessions.ts'
import { checkAuthorized, emailExists } from '../users/addresses.ts'
import { findUserById, type IdentityRow, type UserRow } from '../users/statements/user-row.ts'
import {
  type AccountAsk,
  change,
  checkBan,
  findAll,
  planLinked,
  toChange,
  toParts,
} from './account-changes.ts'
import { type Unlinking, unlinkIdentity as unlink } from './statements/external-accounts.ts'

/** @throws {ApiError} where the operator has not allowed it. */
export function checkManualLinking({ config }: Services): void {
  if (config.site.manualLinking) return
  throw new ApiError('manual_linking_disabled', 'Manual linking is disabled')
}

/**
 * An identity is a way in, as the address is. Whoever has only stolen a password must neither add one
 * nor take the owner's away: the same as for a new address (reference 3.14). @throws {ApiError}
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

/** Who asked for one more identity, and in which session. */
export interface LinkingTarget {
  readonly userId: string
  /** Null: their token has none. */
  readonly sessionId: string | null
}

interface Linkable {
  readonly user: UserRow
  /** The address that the user gets by it. */
  readonly main: ExternalEmail | undefined
}

/** What is known before anything is written. @throws {ApiError} */
export async function checkLinkable(
  services: Services,
  { userId, sessionId }: LinkingTarget,
  ask: Pick<AccountAsk, 'provider' | 'profile'>,
): Promise<Linkable> {
  const user = await findLinker(services, userId, sessionId)
  const candidates = await findAll(services, ask)
  const owner = candidates.find(({ has_identity: isOwner }) => isOwner)
  if (owner !== undefined) throw alreadyLinked(owner.id === userId)
  const main = user.email === null ? findMainEmail(ask.profile.emails) : undefined
  if (main && candidates.some(({ id, email }) => id !== userId && email === main.email)) {
    throw emailExists()
  }
  return { user, main }
}

/** Minutes may have passed: whoever has ended the session since wants nothing more of it. */
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
 * Reference 3.19: gives a user one more identity. A user without an address gets that of the
 * identity, and is no longer anonymous. @throws {ApiError}
 */
export async function linkIdentity(
  services: Services,
  target: LinkingTarget,
  ask: AccountAsk,
): Promise<UserRow> {
  const { db, config } = services
  const { user, main } = await checkLinkable(services, target, ask)
  const confirms = main !== undefined && (main.isVerified || config.mail.autoconfirm)
  const asked = main !== undefined && !confirms ? main.email : undefined
  if (asked !== undefined) await countCode(services, { channel: 'email', name: asked })
  const now = new Date(services.now())
  const changed = await change(services, {
    ...toChange(services, ask, user),
    ...toParts(services, ask, now, null),
    ...(asked !== undefined && askForAddress(services, user, ask, asked)),
    email: confirms ? main.email : null,
    confirms,
    audit: toAuditEntry('identity_linked', user, { provider: ask.provider.id }),
    notices: planLinked(services, user, ask),
  })
  if (changed === undefined) {
    throw asked === undefined
      ? alreadyLinked(false)
      : await toCapError(db, config.limits.emailSent, now)
  }
  if (asked === undefined) return changed
  services.wakeMessages()
  throw new ApiError(
    'email_not_confirmed',
    `Unverified email with ${ask.provider.id}. A confirmation email has been sent to your ${ask.provider.id} email`,
    { status: 422 },
  )
}

/**
 * The account has an owner already. Its new address is confirmed as one of PUT /user is: whoever reads
 * the mail is asked to lend their address, and is not signed in. @throws {ApiError}
 */
function askForAddress(services: Services, user: UserRow, ask: AccountAsk, newEmail: string) {
  const { mail, limits } = services.config
  checkAuthorized(services, newEmail)
  const waitSeconds = secondsUntilDue(user.email_change_sent_at, mail.gapMs, services.now())
  if (waitSeconds > 0) throw toGapError(waitSeconds)
  const { redirectTo, externalUrl } = ask
  const request = { user, newEmail, challenge: undefined, redirectTo, externalUrl }
  const { tokens, messages } = planEmailChange(services, request)
  return { email_change: newEmail, token: tokens, messages, ...toCapParts(limits.emailSent) }
}

function alreadyLinked(isOwn: boolean): ApiError {
  const whose = isOwn ? '' : ' to another user'
  return new ApiError('identity_already_exists', `Identity is already linked${whose}`)
}

/**
 * Takes an identity from a user who has others. The address of the account does not change by it, as it
 * changes only where both mailboxes agree: an identity that carries it stays until the user has another
 * address. @throws {ApiError}
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
    // Since we looked, another request has changed something about them.
    const [present] = await services.db.run(findUserById, { id: user.id })
    if (present !== undefined) checkUnlinkable(present, identityId)
    throw new ApiError('conflict', 'The account is being changed, please try again')
  }
  if (notices.length > 0) services.wakeMessages()
}

/** The statement has the same rules. @throws {ApiError} */
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
      'Unable to unlink identity due to email conflict: it has the email address of the account. Change the email address first',
    )
  }
  return identity
}
