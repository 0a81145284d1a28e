import type { MailPlan } from '../../messages/requests/mail-plan.ts'
import type { NewFlow, NewMessage, NewToken } from '../../messages/statements/request-parts.ts'
import type { Services } from '../../services.ts'
import type { OneTimeTokenType } from '../one-time-codes/one-time-tokens.ts'
import type { Challenge } from '../sessions/pkce.ts'
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

/** To the new address, and to the present one where both must agree (reference 6.4). */
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
    // One for both: whichever link comes last leads to its code.
    flow: toNew.flow,
    messages: toMessages(services, plans),
  }
}

/** A hook sends both, and is told of both at once (reference 14). */
function toMessages(
  { config: { hooks } }: Pick<Services, 'config'>,
  plans: readonly MailPlan[],
): readonly NewMessage[] {
  const [toNew, toPresent] = plans
  if (hooks.sendEmail === undefined || toNew === undefined || toPresent === undefined) {
    return plans.map(({ message }) => message)
  }
  const { digits: CurrentToken, linkToken: CurrentTokenHash } = toPresent
  const payload = { ...toNew.message.payload, CurrentToken, CurrentTokenHash }
  return [{ ...toNew.message, payload }]
}

function needsBoth({ config: { mail } }: Pick<Services, 'config'>): boolean {
  return mail.secureEmailChange && !mail.autoconfirm
}
