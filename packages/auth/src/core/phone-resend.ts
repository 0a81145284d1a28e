import type { UserRow } from '../db/user-row.ts'
import { findUserByPhone } from '../db/users.ts'
import { claimsNothing } from './account-claims.ts'
import { resendPhoneChange } from './phone-change.ts'
import { requireGateway, type TextKind } from './phone-gateway.ts'
import { type PhoneAsk, textNobody, textUser } from './phone-messages.ts'
import type { Services } from './services.ts'

interface Resending {
  readonly kind: TextKind
  readonly clock: 'sms' | 'phone_change'
  /** Undefined: nothing waits for an answer. */
  send(services: Services, ask: PhoneAsk, user: UserRow): Promise<void> | undefined
}

/** By `type`: sends again what still waits for an answer. */
const resendings = {
  sms: {
    kind: 'confirmation',
    clock: 'sms',
    send: (services, ask, user) =>
      user.phone_confirmed_at === null
        ? textUser(services, ask, user, { action: 'user_confirmation_requested' }, claimsNothing)
        : undefined,
  },
  phone_change: {
    kind: 'phone_change',
    clock: 'phone_change',
    send: (services, ask, user) =>
      user.phone_change === null
        ? undefined
        : resendPhoneChange(services, ask, { ...user, phone_change: user.phone_change }),
  },
} as const satisfies Record<string, Resending>
export type PhoneResendType = keyof typeof resendings

/** Reference 3.11. The answer is the same whether anything was to be sent. @throws {ApiError} */
export async function resendText(
  services: Services,
  type: PhoneResendType,
  ask: PhoneAsk,
): Promise<void> {
  const { kind, clock, send } = resendings[type]
  requireGateway(services, ask.phone, kind)
  const [user] = await services.db.run<UserRow>(findUserByPhone, [ask.phone, ask.audience])
  const sending = user && send(services, ask, user)
  await (sending ?? textNobody(services, ask, clock))
}
