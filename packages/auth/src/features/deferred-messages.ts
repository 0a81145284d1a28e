import type { ClientTextRequest } from '../messages/requests/phone-messages.ts'
import type { ClientMailRequest } from '../messages/requests/user-mail.ts'
import type { DeferredKind } from '../messages/statements/message-cooldowns.ts'
import type { OutboxRow } from '../messages/statements/outbox.ts'
import type { Services } from '../services.ts'
import { sendEmailAgain, sendRecovery, sendTextAgain } from './recovery/requests.ts'
import { type DeferredMagicLink, sendMagicLink } from './sign-in/magic-link.ts'
import { type DeferredOtp, sendPhoneOtp } from './sign-in/phone-otp.ts'

/**
 * The functions that process stored requests, by the kind of the outbox row. These requests are
 * answered before the account is looked up; otherwise the response time would reveal whether the
 * account exists.
 */
const senders = {
  recovery: (services: Services, request: ClientMailRequest) => sendRecovery(services, request),
  magic_link: (services: Services, request: DeferredMagicLink) => sendMagicLink(services, request),
  resend_signup: (services: Services, request: ClientMailRequest) =>
    sendEmailAgain(services, 'signup', request),
  resend_email_change: (services: Services, request: ClientMailRequest) =>
    sendEmailAgain(services, 'email_change', request),
  phone_otp: (services: Services, request: DeferredOtp) => sendPhoneOtp(services, request),
  resend_sms: (services: Services, request: ClientTextRequest) =>
    sendTextAgain(services, 'sms', request),
  resend_phone_change: (services: Services, request: ClientTextRequest) =>
    sendTextAgain(services, 'phone_change', request),
} as const satisfies Record<DeferredKind, (services: Services, request: never) => Promise<void>>

/**
 * Processes a row of the outbox. A row may be processed twice; the newer message then replaces the
 * older one.
 */
export async function sendDeferred(
  services: Services,
  { kind, payload }: Pick<OutboxRow, 'kind' | 'payload'>,
): Promise<void> {
  const known: Readonly<Record<string, (services: Services, request: never) => Promise<void>>> =
    senders
  const send = Object.hasOwn(known, kind) ? known[kind] : undefined
  if (send === undefined) throw new Error(`Unknown deferred message kind: ${kind}`)
  await send(services, payload as never)
}
