import { secondsUntilDue, toCapParts } from '../../messages/requests/email-limits.ts'
import { findRefusal, noGap } from '../../messages/requests/message-gaps.ts'
import type { MailAsk } from '../../messages/requests/user-mail.ts'
import type { Services } from '../../services.ts'
import { planEmailChange } from '../account/email-change.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { changeUser, noChange } from '../users/update-user.ts'

/** A user who has asked for another address, which is still to be confirmed. */
interface Mover extends UserRow {
  readonly email_change: string
}

/**
 * Sent as often as the user's own clock allows: that one began with the change, of which nobody is
 * told here, and so it is not told of either.
 *
 * Both addresses get new tokens, and both have to answer anew (reference 6.4): a half that was
 * confirmed belongs to tokens that are gone. @throws {ApiError}
 */
export async function resendEmailChange(
  services: Services,
  ask: MailAsk,
  user: Mover,
): Promise<void> {
  const { db, config } = services
  const now = new Date(services.now())
  const { gapMs } = config.mail
  if (secondsUntilDue(user.email_change_sent_at, gapMs, now.getTime()) > 0) return
  const { redirectTo, externalUrl, challenge } = ask
  const { tokens, flow, messages } = planEmailChange(services, {
    user,
    newEmail: user.email_change,
    challenge,
    redirectTo,
    externalUrl,
  })
  const sent = await changeUser(
    db,
    {
      ...noChange,
      user_id: user.id,
      email_change: user.email_change,
      restarts_email_change: true,
      email_change_gap_seconds: gapMs / 1_000,
      now,
      ip: ask.client.ip,
      audit: toAuditEntry('user_modified', user),
      token: tokens,
      flow,
      messages,
      ...toCapParts(config.limits.emailSent),
    },
    'own',
  )
  if (sent === undefined) {
    const refusal = await findRefusal(db, 'email', config.limits.emailSent, noGap, now)
    if (refusal !== undefined) throw refusal.error
    return
  }
  services.wakeMessages()
}
