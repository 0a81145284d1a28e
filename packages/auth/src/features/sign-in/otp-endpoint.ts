import { ApiError, invalid } from '../../errors.ts'
import { type Answer, type Call, json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { type Static, Type } from '../../http/schema.ts'
import { readRecipients } from '../../messages/requests/code-recipients.ts'
import { parseTextChannel } from '../../messages/requests/phone-gateway.ts'
import type { Services } from '../../services.ts'
import { parseOwnMetadata } from '../users/metadata-limits.ts'
import { parsePhone } from '../users/phone-number.ts'
import { checkMagicLinkAllowed, sendMagicLink } from './magiclink-endpoint.ts'
import { requestPhoneOtp } from './phone-otp.ts'

const body = Type.Object({
  email: Type.Optional(Type.String({ description: 'Address that gets a magic link' })),
  phone: Type.Optional(Type.String({ description: 'Number that gets a code (E.164)' })),
  create_user: Type.Optional(
    Type.Boolean({
      description:
        'true: somebody without an account gets none, and no message. With the header of the ' +
        'client it means the opposite, and is true by default',
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
  summary: 'Sends a magic link, or a code to a phone',
  allowed: 'anyone',
  limiter: 'otp',
  captcha: 'always',
  sendsCodesTo: ({ body }) => readRecipients(body),
  query: { redirect_to: 'Where the link in the email leads in the end' },
  body,
  success: { status: 200, description: 'An empty object, whether there is such a user or not' },
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
 * D4: to the specification, true says that nobody is signed up. To the client it says that somebody
 * may be, and it is told when not.
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
  await requestPhoneOtp(services, {
    phone: parsePhone(body.phone ?? ''),
    audience,
    client,
    channel,
    data: parseOwnMetadata(services, body.data),
    newcomer: findNewcomerRule(call),
  })
  return json({})
}
