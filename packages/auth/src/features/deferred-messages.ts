import type { ClientTextRequest } from '../messages/requests/phone-messages.ts'
import type { ClientMailRequest } from '../messages/requests/user-mail.ts'
import type { DeferredKind } from '../messages/statements/message-cooldowns.ts'
import type { OutboxRow } from '../messages/statements/outbox.ts'
import type { Services } from '../services.ts'
import { sendEmailAgain, sendRecovery, sendTextAgain } from './recovery/requests.ts'
import { type DeferredMagicLink, sendMagicLink } from './sign-in/magic-link.ts'
import { type DeferredOtp, sendPhoneOtp } from './sign-in/phone-otp.ts'

/**
 * Message requests, by the kind of their outbox row, that are answered before the account is looked
 * up. Otherwise the response time would reveal whether the account exists.
 */
const senders = {
  recovery: (services: Services, ask: ClientMailRequest) => sendRecovery(services, ask),
  magic_link: (services: Services, ask: DeferredMagicLink) => sendMagicLink(services, ask),
  resend_signup: (services: Services, ask: ClientMailRequest) =>
    sendEmailAgain(services, 'signup', ask),
  resend_email_change: (services: Services, ask: ClientMailRequest) =>
    sendEmailAgain(services, 'email_change', ask),
  phone_otp: (services: Services, ask: DeferredOtp) => sendPhoneOtp(services, ask),
  resend_sms: (services: Services, ask: ClientTextRequest) => sendTextAgain(services, 'sms', ask),
  resend_phone_change: (services: Services, ask: ClientTextRequest) =>
    sendTextAgain(services, 'phone_change', ask),
} as const satisfies Record<DeferredKind, (services: Services, ask: never) => Promise<void>>

/**
 * Processes a row of the outbox. A row may be processed twice; the newer message then replaces the
 * older one.
 */
export async function sendDeferred(
  services: Services,
  { kind, payload }: Pick<OutboxRow, 'kind' | 'payload'>,
): Promise<void> {
  const known: Readonly<Record<string, (services: Services, ask: never) => Promise<void>>> = senders
  const send = Object.hasOwn(known, kind) ? known[kind] : undefined
  if (send === undefined) throw new Error(`Unknown deferred message kind: ${kind}`)
  await send(services, payload as never)
}
