import { parseEmail, parsePhone } from '../../addresses.ts'
import { ApiError, invalid } from '../../errors.ts'
import { type Answer, type Call, json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { type Static, Type } from '../../http/schema.ts'
import { readRecipients } from '../../messages/requests/daily-codes.ts'
import { createMessageId, toMessageBody } from '../../messages/requests/message-id.ts'
import { readClientMailRequest } from '../../messages/requests/user-mail.ts'
import type { Services } from '../../services.ts'
import {
  type PhoneResendType,
  type ResendType,
  requestRecovery,
  resendEmail,
  resendText,
} from './requests.ts'

export const recover = defineEndpoint({
  method: 'POST',
  path: '/recover',
  summary: 'Sends a password recovery link',
  allowed: 'anyone',
  limiter: 'recover',
  captcha: 'always',
  sendsCodesTo: ({ body }) => readRecipients(body),
  query: { redirect_to: 'URL to which the link redirects' },
  body: Type.Object({
    email: Type.Optional(Type.String()),
    code_challenge: Type.Optional(Type.String()),
    code_challenge_method: Type.Optional(Type.String()),
  }),
  success: { status: 200, description: 'An empty object, whether or not the user exists' },
  async handle(call, services) {
    if (!services.config.site.emailEnabled) {
      throw new ApiError('email_provider_disabled', 'Email logins are disabled', { status: 400 })
    }
    const { email = '' } = call.body
    if (email === '') throw invalid('Password recovery requires an email')
    await requestRecovery(services, readClientMailRequest(call, services, parseEmail(email)))
    return json({})
  },
})

const body = Type.Object({
  type: Type.Optional(Type.String({ description: 'signup, email_change, sms or phone_change' })),
  email: Type.Optional(Type.String({ description: 'Current email address of the user' })),
  phone: Type.Optional(Type.String({ description: 'Current phone number of the user' })),
  code_challenge: Type.Optional(Type.String()),
  code_challenge_method: Type.Optional(Type.String()),
})
type ResendCall = Call<Static<typeof body>>

const emailTypes = ['signup', 'email_change'] as const satisfies readonly ResendType[]
const phoneTypes = ['sms', 'phone_change'] as const satisfies readonly PhoneResendType[]

export const resend = defineEndpoint({
  method: 'POST',
  path: '/resend',
  summary: 'Resends the message of a pending confirmation',
  allowed: 'anyone',
  limiter: 'resend',
  captcha: 'always',
  sendsCodesTo: ({ body }) => readRecipients(body),
  query: { redirect_to: 'URL to which the link redirects' },
  body,
  success: {
    status: 200,
    description:
      'An empty object, whether or not a message was sent. For clients of Supabase Auth, message_id of a text message',
  },
  async handle(call, services) {
    const { type, email = '', phone = '' } = call.body
    const emailType = emailTypes.find((known) => known === type)
    const phoneType = phoneTypes.find((known) => known === type)
    if (emailType === undefined && phoneType === undefined) {
      throw invalid('Missing one of these types: signup, email_change, sms, phone_change')
    }
    if (email !== '' && phone !== '') {
      throw invalid('Only an email address or phone number should be provided.')
    }
    if (email === '' && phone === '') {
      if (type === 'signup') throw invalid('Type provided requires an email address')
      if (type === 'sms') throw invalid('Type provided requires a phone number')
      throw invalid('Missing email address or phone number')
    }
    if (phoneType !== undefined) return resendByPhone(call, services, phoneType)
    if (emailType !== undefined) await resendByEmail(call, services, emailType)
    return json({})
  },
})

async function resendByEmail(call: ResendCall, services: Services, type: ResendType) {
  const { email = '' } = call.body
  if (email === '') throw invalid('Type provided requires an email address')
  if (!services.config.site.emailEnabled) {
    throw new ApiError('email_provider_disabled', 'Email logins are disabled', { status: 400 })
  }
  const request = readClientMailRequest(call, services, parseEmail(email))
  await resendEmail(services, type, request, call.isSdk)
}

async function resendByPhone(
  call: ResendCall,
  services: Services,
  type: PhoneResendType,
): Promise<Answer> {
  const {
    body: { phone = '' },
    audience,
    client,
  } = call
  if (phone === '') throw invalid('Type provided requires a phone number')
  if (!services.config.site.phoneEnabled) {
    throw new ApiError('phone_provider_disabled', 'Phone logins are disabled', { status: 400 })
  }
  const number = parsePhone(phone)
  const messageId = call.isSdk ? createMessageId(services, number) : undefined
  const request = { phone: number, audience, client, channel: 'sms', messageId } as const
  await resendText(services, type, request, call.isSdk)
  return json(toMessageBody(messageId))
}
