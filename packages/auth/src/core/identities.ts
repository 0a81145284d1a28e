import { type Unlinking, unlinkIdentity as unlink } from '../db/external-accounts.ts'
import type { IdentityRow, UserRow } from '../db/user-row.ts'
import { findUserById } from '../db/users.ts'
import { isTaken } from '../db/violations.ts'
import { ApiError } from '../errors.ts'
import { toAuditEntry } from './audit.ts'
import { toCapError } from './email-limits.ts'
import {
  type AccountAsk,
  change,
  checkBan,
  findAll,
  planLinked,
  toChange,
  toParts,
} from './external-accounts.ts'
import { findMainEmail } from './external-profile.ts'
import { planNotices } from './notifications.ts'
import type { Services } from './services.ts'
import type { Client } from './sessions.ts'
import { emailExists } from './taken-names.ts'

/** @throws {ApiError} where the operator has not allowed it. */
export function checkManualLinking({ config }: Services): void {
  if (config.site.manualLinking) return
  throw new ApiError('manual_linking_disabled', 'Manual linking is disabled')
}

/**
 * Reference 3.19: gives a user one more identity. A user without an address gets that of the
 * identity, and is no longer anonymous. @throws {ApiError}
 */
export async function linkIdentity(
  services: Services,
  userId: string,
  ask: AccountAsk,
): Promise<UserRow> {
  checkManualLinking(services)
  const { db, config } = services
  const [user] = await db.run<UserRow>(findUserById, [userId])
  if (user === undefined || user.deleted_at !== null) {
    throw new ApiError('user_not_found', 'User from sub claim in JWT does not exist')
  }
  checkBan(services, user)
  const candidates = await findAll(services, ask)
  const owner = candidates.find(({ has_identity: isOwner }) => isOwner)
  if (owner !== undefined) throw alreadyLinked(owner.id === userId)
  const main = user.email === null ? findMainEmail(ask.profile.emails) : undefined
  if (main && candidates.some(({ id, email }) => id !== userId && email === main.email)) {
    throw emailExists()
  }
  const confirms = main !== undefined && (main.isVerified || config.mail.autoconfirm)
  const needsMail = main !== undefined && !confirms
  const now = new Date(services.now())
  const changed = await change(services, {
    ...toChange(services, ask, user),
    ...toParts(services, ask, now, needsMail ? main.email : null),
    email: main?.email ?? null,
    confirms,
    confirmation_sent_at: needsMail ? now : null,
    audit: toAuditEntry('identity_linked', user, { provider: ask.provider.id }),
    notices: planLinked(services, user, ask),
  })
  if (changed === undefined) {
    throw needsMail ? await toCapError(db, config.limits.emailSent, now) : alreadyLinked(false)
  }
  if (!needsMail) return changed
  services.wakeMessages()
  throw new ApiError(
    'email_not_confirmed',
    `Unverified email with ${ask.provider.id}. A confirmation email has been sent to your ${ask.provider.id} email`,
    { status: 422 },
  )
}

function alreadyLinked(isOwn: boolean): ApiError {
  const whose = isOwn ? '' : ' to another user'
  return new ApiError('identity_already_exists', `Identity is already linked${whose}`)
}

/** Takes an identity from a user who has others. @throws {ApiError} */
export async function unlinkIdentity(
  services: Services,
  user: UserRow,
  identityId: string,
  client: Client,
): Promise<void> {
  checkManualLinking(services)
  const identity = user.identities.find(({ id }) => id === identityId)
  if (identity === undefined) {
    throw new ApiError('identity_not_found', "Identity doesn't exist")
  }
  const rest = user.identities.filter(({ id }) => id !== identityId)
  if (rest.length === 0) throw lastOne()
  const { id, payload } = toAuditEntry('identity_unlinked', user, {
    identity_id: identityId,
    provider: identity.provider,
    provider_id: identity.provider_id,
  })
  // To the address of before, which may go with the identity.
  const notices = planNotices(services, 'identity_unlinked', user, { Provider: identity.provider })
  const unlinking: Unlinking = {
    user_id: user.id,
    identity_id: identityId,
    now: new Date(services.now()),
    ip: client.ip,
    audit_id: id,
    audit_payload: payload,
    clears_phone: identity.provider === 'phone',
    ...toEmailChange(user, identity, rest, services.config.mail.autoconfirm),
    notices,
  }
  try {
    const [gone] = await services.db.run(unlink, [unlinking])
    // Since we looked, another request has removed one of them.
    if (gone === undefined) throw lastOne()
    if (notices.length > 0) services.wakeMessages()
  } catch (error) {
    if (!isTaken(error, 'users_email')) throw error
    throw new ApiError(
      'email_conflict_identity_not_deletable',
      'Unable to unlink identity due to email conflict',
    )
  }
}

function lastOne(): ApiError {
  return new ApiError(
    'single_identity_not_deletable',
    'User must have at least 1 identity after unlinking',
  )
}

/** The address of an identity that goes is no longer the user's, unless another one has it too. */
function toEmailChange(
  user: UserRow,
  gone: IdentityRow,
  rest: readonly IdentityRow[],
  autoconfirms: boolean,
): Pick<Unlinking, 'changes_email' | 'email' | 'is_email_confirmed'> {
  const isTheirs = gone.provider !== 'phone' && user.email !== null && gone.email === user.email
  if (!isTheirs || rest.some(({ email }) => email === user.email)) {
    return { changes_email: false, email: null, is_email_confirmed: false }
  }
  const isVerified = ({ identity_data: data }: IdentityRow) => data['email_verified'] === true
  const withEmail = rest.filter(({ email }) => email !== null && email !== '')
  const best = withEmail.find(isVerified) ?? withEmail[0]
  return {
    changes_email: true,
    email: best?.email ?? null,
    is_email_confirmed: best !== undefined && (isVerified(best) || autoconfirms),
  }
}
