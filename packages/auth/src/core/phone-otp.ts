import type { UserRow } from '../db/user-row.ts'
import { findUserByPhone } from '../db/users.ts'
import { isTaken } from '../db/violations.ts'
import { ApiError } from '../errors.ts'
import { claimsNothing } from './account-claims.ts'
import { toAuditEntry } from './audit.ts'
import { insertUser } from './insert-user.ts'
import type { Metadata } from './metadata.ts'
import { confirmPhone, draftPhoneUser, unconfirmed } from './new-users.ts'
import { planCode } from './phone-codes.ts'
import { requireGateway } from './phone-gateway.ts'
import {
  type PhoneAsk,
  textNobody,
  textUser,
  toConfirmation,
  toTextError,
  toTextGap,
} from './phone-messages.ts'
import type { Services } from './services.ts'
import { checkSignupAllowed } from './sign-up-allowed.ts'

export interface PhoneOtpAsk extends PhoneAsk {
  /** Of a user who is made. */
  readonly data: Metadata
  /** What becomes of somebody who has no account. `ignore` tells nobody that they have none. */
  readonly newcomer: 'create' | 'ignore' | 'refuse'
}

/** Reference 3.8: who is unknown is signed up, and everybody gets a code. @throws {ApiError} */
export async function requestPhoneOtp(services: Services, ask: PhoneOtpAsk): Promise<void> {
  const { db } = services
  requireGateway(services, ask.phone, 'confirmation')
  const find = async () => (await db.run<UserRow>(findUserByPhone, [ask.phone, ask.audience]))[0]
  const known = await find()
  if (known !== undefined) return textKnown(services, ask, known)
  if (ask.newcomer === 'ignore') return textNobody(services, ask, 'sms')
  if (ask.newcomer === 'refuse') throw new ApiError('otp_disabled', 'Signups not allowed for otp')
  checkSignupAllowed(services)
  try {
    await createNewcomer(services, ask)
  } catch (error) {
    if (!isTaken(error, 'users_phone')) throw error
    // Somebody was faster, since we looked; or the number belongs to another audience.
    const other = await find()
    return other === undefined ? textNobody(services, ask, 'sms') : textKnown(services, ask, other)
  }
}

async function textKnown(services: Services, ask: PhoneOtpAsk, user: UserRow): Promise<void> {
  if (user.phone_confirmed_at !== null) {
    return textUser(services, ask, user, { action: 'user_recovery_requested' }, claimsNothing)
  }
  const { autoconfirm } = services.config.sms
  if (!autoconfirm) checkSignupAllowed(services)
  const action = autoconfirm ? 'user_recovery_requested' : 'user_confirmation_requested'
  const data = toDraft(services, ask, user.id).raw_user_meta_data
  return textUser(services, ask, user, { action }, { data })
}

function toDraft({ config }: Services, { phone, audience, data }: PhoneOtpAsk, id?: string) {
  const role = config.tokens.defaultGroup
  return draftPhoneUser(phone, { ...(id !== undefined && { id }), aud: audience, role, data })
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
