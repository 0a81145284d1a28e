import { type Refusal, throwRefusal } from '../../messages/requests/message-cooldowns.ts'
import { findTestCode } from '../../messages/requests/phone-gateway.ts'
import {
  type ClientTextRequest,
  textUser,
  tryToDeferCode,
} from '../../messages/requests/phone-messages.ts'
import {
  type ClientMailRequest,
  deferMail,
  type MailCooldown,
  mailCooldowns,
  mailUser,
  skipCooldown,
  tryToDeferMail,
  userMails,
} from '../../messages/requests/user-mail.ts'
import { claimsNothing } from '../../messages/statements/request-parts.ts'
import type { Services } from '../../services.ts'
import { resendEmailChange, resendPhoneChange } from '../account/address-changes.ts'
import { findUserByEmail, findUserByPhone, type UserRow } from '../users/statements/user-row.ts'

/**
 * Stores the request without looking up the user, so that the response reveals nothing.
 * @throws {ApiError}
 */
export function requestRecovery(services: Services, request: ClientMailRequest): Promise<void> {
  return deferMail(services, request, mailCooldowns.recovery, 'recovery')
}

/** Runs after the response. @throws {ApiError} */
export async function sendRecovery(services: Services, request: ClientMailRequest): Promise<void> {
  const [user] = await services.db.run(findUserByEmail, request)
  if (user === undefined) return
  await mailUser(services, request, user, skipCooldown(userMails.recovery), claimsNothing)
}

interface MailResending {
  readonly cooldown: MailCooldown
  /** Does nothing when no confirmation is pending. */
  send(services: Services, request: ClientMailRequest, user: UserRow): Promise<void>
}

/** By `type`: how to resend the message of a pending confirmation. */
const mailResendings = {
  signup: {
    cooldown: mailCooldowns.confirmation,
    async send(services, request, user) {
      if (user.email_confirmed_at !== null) return
      // The request may not come from the user who signed up, so the sign-up's data is not kept.
      await mailUser(services, request, user, skipCooldown(userMails.confirmation), claimsNothing)
    },
  },
  email_change: {
    cooldown: mailCooldowns.emailChange,
    async send(services, request, user) {
      const { email_change } = user
      if (email_change !== null)
        await resendEmailChange(services, request, { ...user, email_change })
    },
  },
} as const satisfies Record<string, MailResending>
export type ResendType = keyof typeof mailResendings

/**
 * The response does not reveal whether a message is sent.
 * @param isSdk whether the behaviour is that of Supabase Auth. @throws {ApiError}
 */
export async function resendEmail(
  services: Services,
  type: ResendType,
  request: ClientMailRequest,
  isSdk: boolean,
): Promise<void> {
  const { cooldown } = mailResendings[type]
  const refusal = await tryToDeferMail(services, request, cooldown, `resend_${type}`)
  reportRefusal(refusal, isSdk && type === 'email_change')
}

/**
 * Supabase Auth reports no cooldown for an address without a pending change. To answer the same
 * without revealing changes, the cooldown is not reported for any address. @throws {ApiError}
 */
function reportRefusal(refusal: Refusal | undefined, hidesCooldown: boolean): void {
  if (!(hidesCooldown && refusal?.why === 'cooldown')) throwRefusal(refusal)
}

/** Runs after the response. @throws {ApiError} */
export async function sendEmailAgain(
  services: Services,
  type: ResendType,
  request: ClientMailRequest,
): Promise<void> {
  const [user] = await services.db.run(findUserByEmail, request)
  if (user !== undefined) await mailResendings[type].send(services, request, user)
}

interface TextResending {
  readonly cooldown: 'sms' | 'phone_change'
  /** Does nothing when no confirmation is pending. */
  send(services: Services, request: ClientTextRequest, user: UserRow): Promise<void>
}

const confirmation = { action: 'user_confirmation_requested', isCooldownChecked: true } as const

/** By `type`: how to resend the message of a pending confirmation. */
const textResendings = {
  sms: {
    cooldown: 'sms',
    async send(services, request, user) {
      if (user.phone_confirmed_at !== null) return
      await textUser(services, request, user, confirmation, claimsNothing)
    },
  },
  phone_change: {
    cooldown: 'phone_change',
    async send(services, request, user) {
      const { phone_change } = user
      if (phone_change !== null)
        await resendPhoneChange(services, request, { ...user, phone_change })
    },
  },
} as const satisfies Record<string, TextResending>
export type PhoneResendType = keyof typeof textResendings

/**
 * The response does not reveal whether a message is sent, also if no gateway is configured: the log
 * then has an error for each message.
 * @param isSdk whether the behaviour is that of Supabase Auth. @throws {ApiError}
 */
export async function resendText(
  services: Services,
  type: PhoneResendType,
  request: ClientTextRequest,
  isSdk: boolean,
): Promise<void> {
  const { cooldown } = textResendings[type]
  // Test numbers are handled at once: their code is known in advance and may be entered before a
  // deferred request runs.
  if (findTestCode(services, request.phone) !== undefined)
    return sendTextAgain(services, type, request)
  const refusal = await tryToDeferCode(services, request, cooldown, `resend_${type}`)
  reportRefusal(refusal, isSdk && type === 'phone_change')
}

/** Runs after the response. @throws {ApiError} */
export async function sendTextAgain(
  services: Services,
  type: PhoneResendType,
  request: ClientTextRequest,
): Promise<void> {
  const [user] = await services.db.run(findUserByPhone, request)
  if (user !== undefined) await textResendings[type].send(services, request, user)
}
