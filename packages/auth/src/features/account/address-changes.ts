import type { MailPlan } from '../../messages/requests/mail-plan.ts'
import {
  findRefusal,
  noCooldown,
  secondsUntilDue,
  toCapParts,
} from '../../messages/requests/message-cooldowns.ts'
import { planCode } from '../../messages/requests/phone-codes.ts'
import { type ClientTextRequest, refuse } from '../../messages/requests/phone-messages.ts'
import type { ClientMailRequest } from '../../messages/requests/user-mail.ts'
import type { NewFlow, NewMessage, NewToken } from '../../messages/statements/request-parts.ts'
import type { TextChannel } from '../../plugins/sms/gateway.ts'
import type { Services } from '../../services.ts'
import type { OneTimeTokenType } from '../../tokens/one-time-tokens.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { Challenge } from '../sessions/pkce.ts'
import type { UserChange } from '../user-changes/statements/update-user.ts'
import { changeUser, noChange } from '../user-changes/update-user.ts'
import type { UserRow } from '../users/statements/user-row.ts'

export interface EmailChangeRequest {
  readonly user: Pick<UserRow, 'email'>
  readonly newEmail: string
  readonly challenge: Challenge | undefined
  readonly redirectTo: string
  readonly externalUrl: string
}

export interface EmailChangePlan {
  readonly tokens: readonly NewToken[]
  readonly flow: NewFlow | null
  readonly messages: readonly NewMessage[]
}

/** Messages go to the new address and, if both must confirm the change, to the current one. */
export function planEmailChange(
  services: Pick<Services, 'mail' | 'config'>,
  { user, newEmail, challenge, redirectTo, externalUrl }: EmailChangeRequest,
): EmailChangePlan {
  const plan = (tokenType: OneTimeTokenType, recipient: string) =>
    services.mail.plan({
      kind: 'email_change',
      tokenType,
      email: user.email ?? newEmail,
      recipient,
      newEmail,
      redirectTo,
      externalUrl,
      pkce: challenge && { ...challenge, authenticationMethod: 'email_change' },
    })
  const toNew = plan('email_change_new', newEmail)
  const plans =
    user.email !== null && needsBoth(services)
      ? [toNew, plan('email_change_current', user.email)]
      : [toNew]
  return {
    tokens: plans.map(({ token }) => token),
    // Both links share one flow: the link that is followed last leads to its code.
    flow: toNew.flow,
    messages: toMessages(services, plans),
  }
}

/** A hook sends both messages, so it is called once with the tokens of both. */
function toMessages(
  { config: { hooks } }: Pick<Services, 'config'>,
  plans: readonly MailPlan[],
): readonly NewMessage[] {
  const [toNew, toCurrent] = plans
  if (hooks.sendEmail === undefined || toNew === undefined || toCurrent === undefined) {
    return plans.map(({ message }) => message)
  }
  const { digits: CurrentToken, linkToken: CurrentTokenHash } = toCurrent
  const payload = { ...toNew.message.payload, CurrentToken, CurrentTokenHash }
  return [{ ...toNew.message, payload }]
}

function needsBoth({ config: { mail } }: Pick<Services, 'config'>): boolean {
  return mail.secureEmailChange && !mail.autoconfirm
}

/** A user with a pending change of the email address. */
interface UserWithEmailChange extends UserRow {
  readonly email_change: string
}

/**
 * Sends the messages again, unless the user's cooldown is still running. In that case the request
 * is ignored without an error, because an error would reveal that a change is pending.
 *
 * Both addresses get new tokens and must confirm again: an earlier confirmation belonged to tokens
 * that no longer exist. @throws {ApiError}
 */
export async function resendEmailChange(
  services: Services,
  request: ClientMailRequest,
  user: UserWithEmailChange,
): Promise<void> {
  const { db, config } = services
  const now = new Date(services.now())
  const { cooldownMs } = config.mail
  if (secondsUntilDue(user.email_change_sent_at, cooldownMs, now.getTime()) > 0) return
  const { redirectTo, externalUrl, challenge } = request
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
      email_change_gap_seconds: cooldownMs / 1_000,
      now,
      ip: request.client.ip,
      audit: toAuditEntry('user_modified', user),
      token: tokens,
      flow,
      messages,
      ...toCapParts(config.limits.emailSent),
    },
    'own',
  )
  if (sent === undefined) {
    const refusal = await findRefusal(services, 'email', noCooldown, now)
    if (refusal !== undefined) throw refusal.error
    return
  }
  services.wakeMessages()
}

/** What a change of the phone number that must be confirmed adds to an update. */
export type PhoneChange = Pick<UserChange, 'phone_change' | 'phone_change_gap_seconds'> &
  ReturnType<typeof planCode>['parts']

/** The code goes to the new number only: the caller is already authenticated. */
export function planPhoneChange(
  services: Pick<Services, 'config' | 'oneTimeTokens' | 'gatewayCodes' | 'now'>,
  newPhone: string,
  channel: TextChannel,
): PhoneChange {
  const { parts, cooldownMs } = planCode(services, {
    kind: 'phone_change',
    tokenType: 'phone_change',
    phone: newPhone,
    channel,
  })
  return { phone_change: newPhone, phone_change_gap_seconds: cooldownMs / 1_000, ...parts }
}

/** A user with a pending change of the phone number. */
interface UserWithPhoneChange extends UserRow {
  readonly phone_change: string
}

/**
 * Sends the code again, unless the user's cooldown is still running. In that case the request is
 * ignored without an error, because an error would reveal that a change is pending.
 * @throws {ApiError}
 */
export async function resendPhoneChange(
  services: Services,
  request: ClientTextRequest,
  user: UserWithPhoneChange,
): Promise<void> {
  const now = new Date(services.now())
  const change = planPhoneChange(services, user.phone_change, request.channel)
  const ownCooldownMs = (change.phone_change_gap_seconds ?? 0) * 1_000
  if (secondsUntilDue(user.phone_change_sent_at, ownCooldownMs, now.getTime()) > 0) return
  const sent = await changeUser(
    services.db,
    {
      ...noChange,
      user_id: user.id,
      now,
      ip: request.client.ip,
      audit: toAuditEntry('user_modified', user),
      ...change,
    },
    'own',
  )
  if (sent === undefined) return refuse(services, noCooldown, now)
  services.wakeMessages()
}
