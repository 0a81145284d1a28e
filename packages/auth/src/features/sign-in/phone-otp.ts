import { toRefusalError } from '../../messages/requests/message-cooldowns.ts'
import { planCode } from '../../messages/requests/phone-codes.ts'
import { findTestCode, requireGateway } from '../../messages/requests/phone-gateway.ts'
import {
  type ClientTextRequest,
  deferCode,
  simulateText,
  textUser,
  toConfirmation,
  toTextCooldown,
} from '../../messages/requests/phone-messages.ts'
import { claimsNothing } from '../../messages/statements/request-parts.ts'
import type { Services } from '../../services.ts'
import type { Metadata } from '../../stored-json.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { confirmPhone, draftPhoneUser, insertUser, unconfirmed } from '../user-changes/new-users.ts'
import {
  hidesDisabledSignup,
  maySignIn,
  type Newcomer,
  signUpUnlessKnown,
} from '../user-changes/sign-up-allowed.ts'
import { findUserByPhone, type UserRow } from '../users/statements/user-row.ts'

export interface PhoneOtpRequest extends ClientTextRequest {
  /** The metadata of a user who is created. */
  readonly data: Metadata
  readonly newcomer: Newcomer
}

/** The stored request when no user is created. */
export type DeferredOtp = Omit<PhoneOtpRequest, 'newcomer'>

/** Signs up an unknown user, if that is allowed, and sends a code. @throws {ApiError} */
export async function requestPhoneOtp(services: Services, request: PhoneOtpRequest): Promise<void> {
  const { newcomer, ...deferred } = request
  requireGateway(services, request.phone, 'confirmation')
  if (newcomer === 'ignore' || hidesDisabledSignup(services)) {
    // Test numbers are handled at once: their code is known in advance and may be entered before a
    // deferred request runs.
    if (findTestCode(services, request.phone) !== undefined) return sendPhoneOtp(services, deferred)
    return deferCode(services, deferred, 'sms', 'phone_otp')
  }
  const user = await signUpUnlessKnown({
    services,
    newcomer,
    constraint: 'users_phone',
    find: () => findUser(services, request),
    create: () => createNewcomer(services, request),
  })
  if (user === undefined) return simulateText(services, request, 'sms')
  if (user !== 'created') await textKnown(services, request, user)
}

/** Handles a stored request. @throws {ApiError} */
export async function sendPhoneOtp(services: Services, request: DeferredOtp): Promise<void> {
  const user = await findUser(services, request)
  if (user === undefined || !maySignIn(services, user)) return
  await textKnown(services, request, user, true)
}

async function findUser({ db }: Services, { phone, audience }: ClientTextRequest) {
  return (await db.run(findUserByPhone, { phone, audience }))[0]
}

async function textKnown(
  services: Services,
  request: DeferredOtp,
  user: UserRow,
  isCooldownChecked = false,
): Promise<void> {
  if (user.phone_confirmed_at !== null) {
    const reason = { action: 'user_recovery_requested', isCooldownChecked } as const
    return textUser(services, request, user, reason, claimsNothing)
  }
  const { autoconfirm } = services.config.sms
  const action = autoconfirm ? 'user_recovery_requested' : 'user_confirmation_requested'
  const data = toDraft(services, request, user.id).raw_user_meta_data
  return textUser(services, request, user, { action, isCooldownChecked }, { data })
}

function toDraft({ config }: Services, { phone, audience, data }: DeferredOtp, id?: string) {
  const role = config.tokens.defaultGroup
  return draftPhoneUser(phone, { id, aud: audience, role, data })
}

async function createNewcomer(services: Services, request: PhoneOtpRequest): Promise<void> {
  const { config } = services
  const now = new Date(services.now())
  const cooldown = toTextCooldown(services, request, 'sms')
  const { autoconfirm } = config.sms
  const draft = toDraft(services, request)
  const { token, parts } = planCode(services, toConfirmation(request))
  const actor = { ...draft, is_sso_user: false }
  const user = await insertUser(services, {
    ...(autoconfirm ? confirmPhone(draft) : draft),
    ...unconfirmed,
    encrypted_password: services.passwords.createUnusable(),
    phone_confirmed_at: autoconfirm ? now : null,
    confirmation_sent_at: now,
    now,
    ip: request.client.ip,
    audit: autoconfirm
      ? toAuditEntry('user_signedup', actor, { provider: 'phone', channel: request.channel })
      : toAuditEntry('user_confirmation_requested', actor, { channel: request.channel }),
    ...parts,
    token: { ...token, claim: { data: draft.raw_user_meta_data } },
    ...cooldown,
  })
  if (user === undefined) throw await toRefusalError(services, 'sms', cooldown, now)
  services.wakeMessages()
}
