import { checkAuthorized } from '../../addresses.ts'
import { ApiError, invalid } from '../../errors.ts'
import {
  type MessageChannel,
  secondsUntilDue,
  toCapError,
  toCapParts,
  toCooldownError,
} from '../../messages/requests/message-cooldowns.ts'
import { findTextHashes, planCode } from '../../messages/requests/phone-codes.ts'
import { requireGateway } from '../../messages/requests/phone-gateway.ts'
import { messageRequests } from '../../messages/statements/request-message.ts'
import type { RequestParts } from '../../messages/statements/request-parts.ts'
import type { Services } from '../../services.ts'
import { toAuditEntry } from '../audit/audit.ts'
import type { Client } from '../sessions/sessions.ts'
import type { UserRow } from '../users/statements/user-row.ts'

export interface ReauthenticationRequest {
  readonly user: UserRow
  readonly client: Client
  readonly externalUrl: string
  /** For a text message, if the response has one. */
  readonly messageId: string | undefined
}

/** What is written, the minimum interval since the previous code, and the channel that limits it. */
interface NoncePlan {
  readonly parts: Pick<
    RequestParts,
    'token' | 'messages' | 'channel' | 'cap_most' | 'cap_refill_ms'
  >
  readonly cooldownMs: number
  readonly limitedBy: MessageChannel
}

/** Sends a code that confirms the next change of the password. @throws {ApiError} */
export async function requestReauthentication(
  services: Services,
  request: ReauthenticationRequest,
): Promise<void> {
  const { user, client } = request
  const { parts, cooldownMs, limitedBy } = planNonce(services, request)
  const now = new Date(services.now())
  const waitSeconds = secondsUntilDue(user.reauthentication_sent_at, cooldownMs, now.getTime())
  if (waitSeconds > 0) throw toCooldownError(limitedBy, waitSeconds)
  const [requested] = await services.db.run(messageRequests.reauthentication_sent_at, {
    user_id: user.id,
    own_gap_seconds: cooldownMs / 1_000,
    invited_at: null,
    now,
    ip: client.ip,
    audit: toAuditEntry('user_reauthenticate_requested', user),
    flow: null,
    ...parts,
  })
  if (requested === undefined) throw await toCapError(services, limitedBy, now)
  services.wakeMessages()
}

/**
 * The code goes to the email address if there is one, and otherwise to the phone number.
 * @throws {ApiError}
 */
function planNonce(services: Services, request: ReauthenticationRequest): NoncePlan {
  const { user, externalUrl, messageId } = request
  const { email, phone } = user
  if (email !== null) {
    if (user.email_confirmed_at === null) {
      throw new ApiError('email_not_confirmed', 'Please verify your email first.', { status: 422 })
    }
    checkAuthorized(services, email)
    return planByEmail(services, email, externalUrl)
  }
  if (phone === null) {
    throw invalid('Reauthentication requires the user to have an email or a phone number')
  }
  if (user.phone_confirmed_at !== null) return planByPhone(services, phone, messageId)
  throw new ApiError('phone_not_confirmed', 'Please verify your phone first.', { status: 422 })
}

function planByEmail(
  { config, mail, redirects }: Services,
  email: string,
  externalUrl: string,
): NoncePlan {
  const { token, message } = mail.plan({
    kind: 'reauthentication',
    tokenType: 'reauthentication',
    email,
    redirectTo: redirects.siteUrl,
    externalUrl,
  })
  return {
    parts: { token, messages: [message], ...toCapParts(config.limits.emailSent) },
    cooldownMs: config.mail.cooldownMs,
    limitedBy: 'email',
  }
}

function planByPhone(services: Services, phone: string, messageId: string | undefined): NoncePlan {
  requireGateway(services, phone, 'reauthentication')
  return {
    ...planCode(services, {
      kind: 'reauthentication',
      tokenType: 'reauthentication',
      phone,
      channel: 'sms',
      messageId,
    }),
    limitedBy: 'sms',
  }
}

/** The possible hashes of a code. If the code is correct, the table contains one of them. */
export async function hashNonce(
  services: Services,
  { email, phone }: Pick<UserRow, 'email' | 'phone'>,
  nonce: string,
): Promise<readonly string[]> {
  if (email === null && phone !== null) return findTextHashes(services, nonce, phone)
  return services.oneTimeTokens.findHashes(nonce, email ?? '')
}
