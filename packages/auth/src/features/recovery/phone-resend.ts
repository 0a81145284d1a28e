import {
  findTestCode,
  requireGateway,
  type TextKind,
} from '../../messages/requests/phone-gateway.ts'
import { deferCode, type PhoneAsk, textUser } from '../../messages/requests/phone-messages.ts'
import type { Services } from '../../services.ts'
import { resendPhoneChange } from '../account/phone-change.ts'
import { claimsNothing } from '../one-time-codes/account-claims.ts'
import { findUserByPhone } from '../users/statements/find-users.ts'
import type { UserRow } from '../users/statements/user-row.ts'

interface Resending {
  readonly kind: TextKind
  readonly clock: 'sms' | 'phone_change'
  /** Does nothing where nothing waits for an answer. */
  send(services: Services, ask: PhoneAsk, user: UserRow): Promise<void>
}

const confirmation = { action: 'user_confirmation_requested', hasWaited: true } as const

/** By `type`: sends again what still waits for an answer. */
const resendings = {
  sms: {
    kind: 'confirmation',
    clock: 'sms',
    async send(services, ask, user) {
      if (user.phone_confirmed_at !== null) return
      await textUser(services, ask, user, confirmation, claimsNothing)
    },
  },
  phone_change: {
    kind: 'phone_change',
    clock: 'phone_change',
    async send(services, ask, user) {
      const { phone_change } = user
      if (phone_change !== null) await resendPhoneChange(services, ask, { ...user, phone_change })
    },
  },
} as const satisfies Record<string, Resending>
export type PhoneResendType = keyof typeof resendings

/** The answer is the same whether anything is to be sent. One statement. @throws {ApiError} */
export function resendText(
  services: Services,
  type: PhoneResendType,
  ask: PhoneAsk,
): Promise<void> {
  const { kind, clock } = resendings[type]
  requireGateway(services, ask.phone, kind)
  // The code of a test number is known beforehand, and whoever shows it must not come too early.
  if (findTestCode(services, ask.phone) !== undefined) return sendTextAgain(services, type, ask)
  return deferCode(services, ask, clock, `resend_${type}`)
}

/** Afterwards. @throws {ApiError} */
export async function sendTextAgain(
  services: Services,
  type: PhoneResendType,
  ask: PhoneAsk,
): Promise<void> {
  const [user] = await services.db.run<UserRow>(findUserByPhone, [ask.phone, ask.audience])
  if (user !== undefined) await resendings[type].send(services, ask, user)
}
