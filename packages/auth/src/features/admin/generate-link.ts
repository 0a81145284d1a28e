import type { MailKind } from '../../config/mail/messages.ts'
import { isTaken } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import type { MailPlan } from '../../messages/requests/mail-plan.ts'
import { toCapError, toCapParts } from '../../messages/requests/message-cooldowns.ts'
import { claimsNothing } from '../../messages/statements/request-parts.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { type OneTimeTokenType } from '../../tokens/one-time-tokens.ts'
import { type AuditAction, toSubjectEntry } from '../audit/audit.ts'
import { draftEmailUser, insertUser, unconfirmed } from '../user-changes/new-users.ts'
import {
  checkUserUpdate,
  type UpdateCheck,
  type UserChange,
} from '../user-changes/statements/update-user.ts'
import { changeUser, noChange } from '../user-changes/update-user.ts'
import { checkMetadataSize } from '../users/metadata.ts'
import { findUserByEmail, type UserRow } from '../users/statements/user-row.ts'
import { emailExists } from '../users/taken-errors.ts'
import { toUserRecord, type UserRecord } from '../users/user-record.ts'
import type { Invitation } from './invite-user.ts'

interface LinkRequest extends Invitation {
  readonly type: LinkType
  /** For the types that change the address. */
  readonly newEmail: string | undefined
  /** For the type signup. */
  readonly password: string | undefined
  /** Whether the email is sent; otherwise the caller delivers the link. */
  readonly isSent: boolean
  /** Whether the administrator will use the link to sign in as the user. */
  readonly isImpersonation: boolean
  /** The `sub` of the administrator's token, if it has one. */
  readonly adminSubject: string | undefined
}

/** Creates the link of an email for an administrator. @throws {ApiError} */
export async function generateLink(services: Services, request: LinkRequest): Promise<UserRecord> {
  const { email, audience } = request
  const [known] = await services.db.run(findUserByEmail, { email, audience })
  if (known !== undefined) return linkFor(services, request, known)
  // Without an account, a magic link becomes a link that confirms a sign-up.
  const type = request.type === 'magiclink' ? 'signup' : request.type
  const needsUser = type === 'signup' && (request.isSent || request.isImpersonation)
  if (needsUser || (type !== 'signup' && type !== 'invite')) {
    throw new ApiError('user_not_found', 'User with this email not found')
  }
  try {
    return await linkForNew(services, { ...request, type })
  } catch (error) {
    if (!isTaken(error, 'users_email')) throw error
    // The address was registered in the meantime, or it belongs to another audience.
    const [other] = await services.db.run(findUserByEmail, { email, audience })
    if (other === undefined) throw emailExists()
    return linkFor(services, request, other)
  }
}

async function linkForNew(
  services: Services,
  request: LinkRequest & { readonly type: 'signup' | 'invite' },
): Promise<UserRecord> {
  const { config, passwords } = services
  const { type, email, audience, data, client, password } = request
  const draft = draftEmailUser(email, { aud: audience, role: config.tokens.defaultGroup, data })
  const isInvited = type === 'invite'
  const hash =
    password === undefined
      ? passwords.createUnusable()
      : (await passwords.hash(password)).toStored(draft.id)
  const plan = planLink(services, request)
  const now = new Date(services.now())
  const user = await insertUser(services, {
    ...draft,
    ...unconfirmed,
    // The metadata as given: nothing is copied from the identity.
    raw_user_meta_data: data,
    encrypted_password: isInvited ? null : hash,
    admin_data: { password: password !== undefined, user_metadata: data },
    confirmation_sent_at: now,
    invited_at: isInvited ? now : null,
    now,
    ip: client.ip,
    audit: toSubjectEntry(linkTypes[type].action, request.adminRole, draft),
    token: { ...plan.token, claim: claimsNothing },
    flow: null,
    ...toMessages(services, request, plan),
  })
  if (user === undefined) throw await toCapError(services, 'email', now)
  if (request.isSent) services.wakeMessages()
  return toLinkResponse(user, request, plan)
}

async function linkFor(
  services: Services,
  request: LinkRequest,
  known: UserRow,
): Promise<UserRecord> {
  const { type, newEmail, data, adminRole, client, password } = request
  const { sentColumn, refusesConfirmed, changesEmail, action } = linkTypes[type]
  if (refusesConfirmed && known.email_confirmed_at !== null) throw emailExists()
  // A confirmation that is only sent again sets no data.
  const setsData = refusesConfirmed && !(type === 'signup' && password === undefined)
  if (setsData) checkMetadataSize(services, known, { user_metadata: data })
  if (changesEmail && newEmail !== undefined) await checkFree(services, newEmail, known)
  const plan = planLink(services, request)
  const hash =
    password === undefined
      ? undefined
      : (await services.passwords.hash(password)).toStored(known.id)
  const now = new Date(services.now())
  const change: UserChange = {
    ...noChange,
    user_id: known.id,
    by_admin: setsData,
    ...(sentColumn && { [sentColumn]: now }),
    invited_at: type === 'invite' ? now : null,
    user_metadata: setsData ? data : null,
    email_change: changesEmail ? (newEmail ?? null) : null,
    // A link for a different new address starts a new change, so the token for the other address
    // is removed.
    cleared_tokens:
      changesEmail && known.email_change !== newEmail
        ? ([type === 'email_change_new' ? 'email_change_current' : 'email_change_new'] as const)
        : [],
    now,
    ip: client.ip,
    audit: toSubjectEntry(action, adminRole, known, toTraits(request)),
    token: { ...plan.token, claim: hash === undefined ? claimsNothing : { hash } },
    ...toMessages(services, request, plan),
  }
  const user = await changeUser(services.db, change, 'admin')
  if (user === undefined && request.isSent) {
    throw await toCapError(services, 'email', now)
  }
  if (user === undefined) throw new ApiError('user_not_found', 'User with this email not found')
  if (request.isSent) services.wakeMessages()
  return toLinkResponse(user, request, plan)
}

/** What the link is for. The action `user_invited` already says that an email was sent. */
function toTraits({ type, isSent, isImpersonation, adminSubject }: LinkRequest): Metadata {
  if (isSent && type !== 'invite') return { sent: true }
  if (!isImpersonation) return {}
  // Names the administrator, because the sign-in that follows is logged as one of the user.
  return { impersonation: true, ...(adminSubject !== undefined && { admin: adminSubject }) }
}

/** Searches all audiences, because an address can belong to only one user. */
async function checkFree({ db, now }: Services, email: string, known: UserRow): Promise<void> {
  const check: UpdateCheck = {
    ...{ user_id: known.id, email, phone: null },
    ...{ nonce_hashes: null, most_attempts: 0, now: new Date(now()) },
  }
  const [verdict] = await db.run(checkUserUpdate, check)
  if (verdict?.is_email_taken) throw emailExists()
}

function planLink(services: Services, request: LinkRequest): MailPlan {
  const { type, email, newEmail, redirectTo, externalUrl } = request
  const { kind, tokenType } = linkTypes[type]
  return services.mail.plan({
    kind,
    tokenType,
    email,
    ...(newEmail !== undefined && { newEmail }),
    ...(type === 'email_change_new' && newEmail !== undefined && { recipient: newEmail }),
    redirectTo,
    externalUrl,
  })
}

function toMessages({ config }: Services, { isSent }: LinkRequest, { message }: MailPlan) {
  return isSent
    ? { messages: [message], ...toCapParts(config.limits.emailSent) }
    : { messages: [], cap_most: null, cap_refill_ms: null }
}

function toLinkResponse(user: UserRow, request: LinkRequest, plan: MailPlan): UserRecord {
  return {
    ...toUserRecord(user),
    action_link: plan.actionLink,
    email_otp: plan.digits,
    hashed_token: plan.linkToken,
    verification_type: request.type,
    redirect_to: request.redirectTo,
    ...(request.isSent && { sent: true }),
    ...(request.isImpersonation && { impersonation: true }),
  }
}

interface LinkDefinition {
  readonly kind: MailKind
  readonly tokenType: OneTimeTokenType
  readonly action: AuditAction
  /** The column with the time at which the last such link was created. */
  readonly sentColumn?: 'confirmation_sent_at' | 'recovery_sent_at'
  /** Whether the link is only for users who have not confirmed their email address yet. */
  readonly refusesConfirmed: boolean
  readonly changesEmail: boolean
}

const first = {
  tokenType: 'confirmation',
  sentColumn: 'confirmation_sent_at',
  refusesConfirmed: true,
  changesEmail: false,
} as const
const again = {
  tokenType: 'recovery',
  sentColumn: 'recovery_sent_at',
  action: 'user_recovery_requested',
  refusesConfirmed: false,
  changesEmail: false,
} as const
const change = {
  kind: 'email_change',
  action: 'user_modified',
  refusesConfirmed: false,
  changesEmail: true,
} as const

const definitions = {
  signup: { ...first, kind: 'confirmation', action: 'user_confirmation_requested' },
  invite: { ...first, kind: 'invite', action: 'user_invited' },
  magiclink: { ...again, kind: 'magic_link' },
  recovery: { ...again, kind: 'recovery' },
  email_change_current: { ...change, tokenType: 'email_change_current' },
  email_change_new: { ...change, tokenType: 'email_change_new' },
} as const satisfies Readonly<Record<string, LinkDefinition>>

export type LinkType = keyof typeof definitions

/** Link definitions by the `type` of the request. */
export const linkTypes: Readonly<Record<LinkType, LinkDefinition>> = definitions

export function isLinkType(type: string): type is LinkType {
  return Object.hasOwn(linkTypes, type)
}
