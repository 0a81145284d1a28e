import type { TextChannel } from '../../config/sms-gateways.ts'
import { secondsUntilDue } from '../../messages/requests/email-limits.ts'
import { noGap } from '../../messages/requests/message-gaps.ts'
import { planCode } from '../../messages/requests/phone-codes.ts'
import { type PhoneAsk, refuse } from '../../messages/requests/phone-messages.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { UserChange } from '../users/statements/update-user.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { changeUser, noChange } from '../users/update-user.ts'

/** What a change of number that is to be confirmed adds to an update. */
export type PhoneChange = Pick<UserChange, 'phone_change' | 'phone_change_gap_seconds'> &
  ReturnType<typeof planCode>['parts']

/** The code goes to the new number: whoever asks has shown already that they are the user. */
export function planPhoneChange(
  services: Pick<Services, 'config' | 'oneTimeTokens' | 'now'>,
  newPhone: string,
  channel: TextChannel,
): PhoneChange {
  const { parts, gapMs } = planCode(services, {
    kind: 'phone_change',
    tokenType: 'phone_change',
    phone: newPhone,
    channel,
  })
  return { phone_change: newPhone, phone_change_gap_seconds: gapMs / 1_000, ...parts }
}

/** A user who has asked for another number, which is still to be confirmed. */
interface Mover extends UserRow {
  readonly phone_change: string
}

/**
 * Sent as often as the user's own clock allows: that one began with the change, of which nobody is
 * told here, and so it is not told of either. @throws {ApiError}
 */
export async function resendPhoneChange(
  services: Services,
  ask: PhoneAsk,
  user: Mover,
): Promise<void> {
  const now = new Date(services.now())
  const change = planPhoneChange(services, user.phone_change, ask.channel)
  const ownGapMs = (change.phone_change_gap_seconds ?? 0) * 1_000
  if (secondsUntilDue(user.phone_change_sent_at, ownGapMs, now.getTime()) > 0) return
  const sent = await changeUser(
    services.db,
    {
      ...noChange,
      user_id: user.id,
      now,
      ip: ask.client.ip,
      audit: toAuditEntry('user_modified', user),
      ...change,
    },
    'own',
  )
  if (sent === undefined) return refuse(services, noGap, now)
  services.wakeMessages()
}
