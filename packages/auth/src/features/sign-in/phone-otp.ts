import { planCode } from '../../messages/requests/phone-codes.ts'
import { findTestCode, requireGateway } from '../../messages/requests/phone-gateway.ts'
import {
  deferCode,
  type PhoneAsk,
  textNobody,
  textUser,
  toConfirmation,
  toTextError,
  toTextGap,
} from '../../messages/requests/phone-messages.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { claimsNothing } from '../one-time-codes/one-time-tokens.ts'
import type { Metadata } from '../users/metadata.ts'
import { confirmPhone, draftPhoneUser, insertUser, unconfirmed } from '../users/new-users.ts'
import {
  hidesDisabledSignup,
  mayFinish,
  type Newcomer,
  signUpUnlessKnown,
} from '../users/sign-up-allowed.ts'
import { findUserByPhone, type UserRow } from '../users/statements/user-row.ts'

export interface PhoneOtpAsk extends PhoneAsk {
  /** The metadata of a user who is created. */
  readonly data: Metadata
  readonly newcomer: Newcomer
}

/** The stored request when no user is created. */
export type DeferredOtp = Omit<PhoneOtpAsk, 'newcomer'>

/** Signs up an unknown user, if that is allowed, and sends a code. @throws {ApiError} */
export async function requestPhoneOtp(services: Services, ask: PhoneOtpAsk): Promise<void> {
  const { newcomer, ...deferred } = ask
  requireGateway(services, ask.phone, 'confirmation')
  if (newcomer === 'ignore' || hidesDisabledSignup(services)) {
    // Test numbers are handled at once: their code is known in advance and may be entered before a
    // deferred request runs.
    if (findTestCode(services, ask.phone) !== undefined) return sendPhoneOtp(services, deferred)
    return deferCode(services, deferred, 'sms', 'phone_otp')
  }
  const user = await signUpUnlessKnown({
    services,
    newcomer,
    constraint: 'users_phone',
    find: () => findUser(services, ask),
    create: () => createNewcomer(services, ask),
  })
  if (user === undefined) return textNobody(services, ask, 'sms')
  if (user !== 'created') await textKnown(services, ask, user)
}

/** Handles a stored request. @throws {ApiError} */
export async function sendPhoneOtp(services: Services, ask: DeferredOtp): Promise<void> {
  const user = await findUser(services, ask)
  if (user === undefined || !mayFinish(services, user)) return
  await textKnown(services, ask, user, true)
}

async function findUser({ db }: Services, { phone, audience }: PhoneAsk) {
  return (await db.run(findUserByPhone, { phone, audience }))[0]
}

async function textKnown(
  services: Services,
  ask: DeferredOtp,
  user: UserRow,
  hasWaited = false,
): Promise<void> {
  if (user.phone_confirmed_at !== null) {
    const reason = { action: 'user_recovery_requested', hasWaited } as const
    return textUser(services, ask, user, reason, claimsNothing)
  }
  const { autoconfirm } = services.config.sms
  const action = autoconfirm ? 'user_recovery_requested' : 'user_confirmation_requested'
  const data = toDraft(services, ask, user.id).raw_user_meta_data
  return textUser(services, ask, user, { action, hasWaited }, { data })
}

function toDraft({ config }: Services, { phone, audience, data }: DeferredOtp, id?: string) {
  const role = config.tokens.defaultGroup
  return draftPhoneUser(phone, { id, aud: audience, role, data })
}

async function createNewcomer(services: Services, ask: PhoneOtpAsk): Promise<void> {
  const { config } = services
  const now = new Date(services.now())
  const gap = toTextGap(services, ask, 'sms')
  const { autoconfirm } = config.sms
  const draft = toDraft(services, ask)
  const { token, parts } = planCode(services, toConfirmation(ask))
  const actor = { ...draft, is_sso_user: false }
  const user = await insertUser(services, {
    ...(autoconfirm ? confirmPhone(draft) : draft),
    ...unconfirmed,
    encrypted_password: services.passwords.createUnusable(),
    phone_confirmed_at: autoconfirm ? now : null,
    confirmation_sent_at: now,
    now,
    ip: ask.client.ip,
    audit: autoconfirm
      ? toAuditEntry('user_signedup', actor, { provider: 'phone', channel: ask.channel })
      : toAuditEntry('user_confirmation_requested', actor, { channel: ask.channel }),
    ...parts,
    token: { ...token, claim: { data: draft.raw_user_meta_data } },
    ...gap,
  })
  if (user === undefined) throw await toTextError(services, gap, now)
  services.wakeMessages()
}
