import { messageRequests } from '../db/request-message.ts'
import type { UserRow } from '../db/user-row.ts'
import { ApiError, invalid } from '../errors.ts'
import { toAuditEntry } from './audit.ts'
import { secondsUntilDue, toCapError, toCapParts, toGapError } from './email-limits.ts'
import type { Services } from './services.ts'
import type { Client } from './sessions.ts'

export interface ReauthenticationRequest {
  readonly user: UserRow
  readonly client: Client
  readonly externalUrl: string
}

/** Reference 3.15: a code for the next change of the password. @throws {ApiError} */
export async function requestReauthentication(
  services: Services,
  { user, client, externalUrl }: ReauthenticationRequest,
): Promise<void> {
  const { db, config, mail, redirects } = services
  const email = findMailbox(user)
  const now = new Date(services.now())
  const waitSeconds = secondsUntilDue(
    user.reauthentication_sent_at,
    config.mail.gapMs,
    now.getTime(),
  )
  if (waitSeconds > 0) throw toGapError(waitSeconds)
  const { token, message } = mail.plan({
    kind: 'reauthentication',
    tokenType: 'reauthentication',
    email,
    redirectTo: redirects.siteUrl,
    externalUrl,
  })
  const [requested] = await db.run<UserRow>(messageRequests.reauthentication_sent_at, [
    {
      user_id: user.id,
      gap_seconds: config.mail.gapMs / 1_000,
      invited_at: null,
      now,
      ip: client.ip,
      audit: toAuditEntry('user_reauthenticate_requested', user),
      token,
      flow: null,
      messages: [message],
      ...toCapParts(config.limits.emailSent),
    },
  ])
  if (requested === undefined) throw await toCapError(db, config.limits.emailSent, now)
  services.wakeMessages()
}

/** The address comes before the number. @throws {ApiError} */
function findMailbox({ email, email_confirmed_at, phone, phone_confirmed_at }: UserRow): string {
  if (email !== null) {
    if (email_confirmed_at !== null) return email
    throw new ApiError('email_not_confirmed', 'Please verify your email first.', { status: 422 })
  }
  if (phone === null) {
    throw invalid('Reauthentication requires the user to have an email or a phone number')
  }
  if (phone_confirmed_at === null) {
    throw new ApiError('phone_not_confirmed', 'Please verify your phone first.', { status: 422 })
  }
  throw noGateway('reauthentication')
}

/** No number can be reached yet. */
export function noGateway(kind: 'reauthentication' | 'phone_change'): ApiError {
  return new ApiError(
    'sms_send_failed',
    `Error sending ${kind} OTP to provider: no gateway for text messages is available`,
  )
}

/** The hash of a code as the table has it. */
export function hashNonce(
  { oneTimeTokens }: Pick<Services, 'oneTimeTokens'>,
  { email, phone }: Pick<UserRow, 'email' | 'phone'>,
  nonce: string,
): string {
  return oneTimeTokens.hashDigits(nonce, email ?? phone ?? '').toString('hex')
}
