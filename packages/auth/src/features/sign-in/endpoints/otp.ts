import { parseEmail, parsePhone } from '../../../addresses.ts'
import { ApiError, invalid } from '../../../errors.ts'
import { type Answer, type Call, json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { type Static, Type } from '../../../http/schema.ts'
import { readRecipients } from '../../../messages/requests/daily-codes.ts'
import { createMessageId, toMessageBody } from '../../../messages/requests/message-id.ts'
import { parseTextChannel } from '../../../messages/requests/phone-gateway.ts'
import { type MailBody, readClientMailRequest } from '../../../messages/requests/user-mail.ts'
import type { Services } from '../../../services.ts'
import { parseOwnMetadata } from '../../users/metadata.ts'
import { checkMagicLinkAllowed, type MagicLinkRequest, requestMagicLink } from '../magic-link.ts'
import { requestPhoneOtp } from '../phone-otp.ts'

export const magiclink = defineEndpoint({
  method: 'POST',
  path: '/magiclink',
  summary: 'Sends a magic link. POST /otp also supports phone numbers',
  allowed: 'anyone',
  limiter: 'magiclink',
  captcha: 'always',
  sendsCodesTo: ({ body }) => readRecipients(body),
  query: { redirect_to: 'URL to which the link redirects' },
  body: Type.Object({
    email: Type.Optional(Type.String()),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    code_challenge: Type.Optional(Type.String()),
    code_challenge_method: Type.Optional(Type.String()),
  }),
  success: { status: 200, description: 'An empty object, whether or not the user exists' },
  async handle(call, services) {
    checkMagicLinkAllowed(services)
    if ((call.body.email ?? '') === '') {
      throw invalid('Password recovery requires an email', { status: 422 })
    }
    await sendMagicLink(call, services, 'create')
    return json({})
  },
})

interface MagicLinkBody extends MailBody {
  readonly data?: Readonly<Record<string, unknown>>
}

export async function sendMagicLink(
  call: Call<MagicLinkBody>,
  services: Services,
  newcomer: MagicLinkRequest['newcomer'],
): Promise<void> {
  const email = parseEmail(call.body.email)
  await requestMagicLink(services, {
    ...readClientMailRequest(call, services, email),
    data: parseOwnMetadata(services, call.body.data),
    newcomer,
    firstMail: call.isSdk ? 'confirmation' : 'magicLink',
  })
}

const body = Type.Object({
  email: Type.Optional(Type.String({ description: 'Email address that gets a magic link' })),
  phone: Type.Optional(Type.String({ description: 'Phone number that gets a code (E.164)' })),
  create_user: Type.Optional(
    Type.Boolean({
      description:
        'If true, users without an account are not signed up and get no message. With the header ' +
        'X-Supabase-Api-Version, or if AUTH_COMPAT_MODE is upstream, the meaning is reversed: only ' +
        'false prevents the sign-up. Default: true',
    }),
  ),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  channel: Type.Optional(
    Type.String({ description: 'How a code is sent to a phone: sms or whatsapp' }),
  ),
  code_challenge: Type.Optional(Type.String()),
  code_challenge_method: Type.Optional(Type.String()),
})
type OtpCall = Call<Static<typeof body>>

export const otp = defineEndpoint({
  method: 'POST',
  path: '/otp',
  summary: 'Sends a magic link by email or a code by text message',
  allowed: 'anyone',
  limiter: 'otp',
  captcha: 'always',
  sendsCodesTo: ({ body }) => readRecipients(body),
  query: { redirect_to: 'URL to which the link in the email redirects' },
  body,
  success: {
    status: 200,
    description:
      'An empty object, whether or not the user exists. For clients of Supabase Auth, message_id of a text message',
  },
  async handle(call, services) {
    const { email = '', phone = '', channel = '' } = call.body
    if (email !== '' && phone !== '') {
      throw invalid('Only an email address or phone number should be provided')
    }
    if (email !== '' && channel !== '') {
      throw invalid('Channel should only be specified with Phone OTP')
    }
    if (phone !== '') return sendCode(call, services)
    if (email === '') throw invalid('One of email or phone must be set')
    checkMagicLinkAllowed(services)
    await sendMagicLink(call, services, findNewcomerRule(call))
    return json({})
  },
})

/**
 * By default, `create_user: true` means that no user is created. To clients of Supabase Auth it
 * means that one may be created, and `false` refuses unknown users with an error.
 */
function findNewcomerRule({ isSdk, body: { create_user } }: OtpCall) {
  if (isSdk) return create_user === false ? 'refuse' : 'create'
  return create_user === true ? 'ignore' : 'create'
}

async function sendCode(call: OtpCall, services: Services): Promise<Answer> {
  const { body, audience, client } = call
  const channel = parseTextChannel(services, body.channel)
  if (!services.config.site.phoneEnabled) {
    throw new ApiError('phone_provider_disabled', 'Unsupported phone provider', { status: 400 })
  }
  const phone = parsePhone(body.phone ?? '')
  const messageId = call.isSdk ? createMessageId(services, phone) : undefined
  await requestPhoneOtp(services, {
    phone,
    messageId,
    audience,
    client,
    channel,
    data: parseOwnMetadata(services, body.data),
    newcomer: findNewcomerRule(call),
  })
  return json(toMessageBody(messageId))
}
