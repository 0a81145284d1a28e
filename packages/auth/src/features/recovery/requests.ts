import { findTestCode } from '../../messages/requests/phone-gateway.ts'
import { deferCode, type PhoneAsk, textUser } from '../../messages/requests/phone-messages.ts'
import {
  afterWait,
  deferMail,
  type MailAsk,
  type MailWait,
  mailUser,
  mailWaits,
  userMails,
} from '../../messages/requests/user-mail.ts'
import type { Services } from '../../services.ts'
import { resendEmailChange, resendPhoneChange } from '../account/address-changes.ts'
import { claimsNothing } from '../one-time-codes/one-time-tokens.ts'
import { findUserByEmail, findUserByPhone, type UserRow } from '../users/statements/user-row.ts'

/**
 * Stores the request without looking up the user, so that the response reveals nothing.
 * @throws {ApiError}
 */
export function requestRecovery(services: Services, ask: MailAsk): Promise<void> {
  return deferMail(services, ask, mailWaits.recovery, 'recovery')
}

/** Runs after the response. @throws {ApiError} */
export async function sendRecovery(services: Services, ask: MailAsk): Promise<void> {
  const [user] = await services.db.run(findUserByEmail, ask)
  if (user === undefined) return
  await mailUser(services, ask, user, afterWait(userMails.recovery), claimsNothing)
}

interface MailResending {
  readonly wait: MailWait
  /** Does nothing when no confirmation is pending. */
  send(services: Services, ask: MailAsk, user: UserRow): Promise<void>
}

/** By `type`: how to resend the message of a pending confirmation. */
const mailResendings = {
  signup: {
    wait: mailWaits.confirmation,
    async send(services, ask, user) {
      if (user.email_confirmed_at !== null) return
      // The request may not come from the user who signed up.
      await mailUser(services, ask, user, afterWait(userMails.confirmation), claimsNothing)
    },
  },
  email_change: {
    wait: mailWaits.emailChange,
    async send(services, ask, user) {
      const { email_change } = user
      if (email_change !== null) await resendEmailChange(services, ask, { ...user, email_change })
    },
  },
} as const satisfies Record<string, MailResending>
export type ResendType = keyof typeof mailResendings

/** The response does not reveal whether a message is sent. @throws {ApiError} */
export function resendEmail(services: Services, type: ResendType, ask: MailAsk): Promise<void> {
  return deferMail(services, ask, mailResendings[type].wait, `resend_${type}`)
}

/** Runs after the response. @throws {ApiError} */
export async function sendEmailAgain(
  services: Services,
  type: ResendType,
  ask: MailAsk,
): Promise<void> {
  const [user] = await services.db.run(findUserByEmail, ask)
  if (user !== undefined) await mailResendings[type].send(services, ask, user)
}

interface TextResending {
  readonly clock: 'sms' | 'phone_change'
  /** Does nothing when no confirmation is pending. */
  send(services: Services, ask: PhoneAsk, user: UserRow): Promise<void>
}

const confirmation = { action: 'user_confirmation_requested', hasWaited: true } as const

/** By `type`: how to resend the message of a pending confirmation. */
const textResendings = {
  sms: {
    clock: 'sms',
    async send(services, ask, user) {
      if (user.phone_confirmed_at !== null) return
      await textUser(services, ask, user, confirmation, claimsNothing)
    },
  },
  phone_change: {
    clock: 'phone_change',
    async send(services, ask, user) {
      const { phone_change } = user
      if (phone_change !== null) await resendPhoneChange(services, ask, { ...user, phone_change })
    },
  },
} as const satisfies Record<string, TextResending>
export type PhoneResendType = keyof typeof textResendings

/**
 * The response does not reveal whether a message is sent, also if no gateway is configured: the log
 * then has an error for each message. @throws {ApiError}
 */
export function resendText(
  services: Services,
  type: PhoneResendType,
  ask: PhoneAsk,
): Promise<void> {
  const { clock } = textResendings[type]
  // Test numbers are handled at once: their code is known in advance and may be entered before a
  // deferred request runs.
  if (findTestCode(services, ask.phone) !== undefined) return sendTextAgain(services, type, ask)
  return deferCode(services, ask, clock, `resend_${type}`)
}

/** Runs after the response. @throws {ApiError} */
export async function sendTextAgain(
  services: Services,
  type: PhoneResendType,
  ask: PhoneAsk,
): Promise<void> {
  const [user] = await services.db.run(findUserByPhone, ask)
  if (user !== undefined) await textResendings[type].send(services, ask, user)
}
