import { ApiError, invalid } from '../../errors.ts'
import { type Call, json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { Type } from '../../http/schema.ts'
import { readRecipients } from '../../messages/requests/code-recipients.ts'
import { type MailBody, readMailAsk } from '../../messages/requests/mail-ask.ts'
import type { Services } from '../../services.ts'
import { parseEmail } from '../users/email-address.ts'
import { parseOwnMetadata } from '../users/metadata-limits.ts'
import { type MagicLinkAsk, requestMagicLink } from './magic-link.ts'

export const magiclink = defineEndpoint({
  method: 'POST',
  path: '/magiclink',
  summary: 'Sends a magic link; POST /otp does the same and more',
  allowed: 'anyone',
  limiter: 'magiclink',
  captcha: 'always',
  sendsCodesTo: ({ body }) => readRecipients(body),
  query: { redirect_to: 'Where the link leads in the end' },
  body: Type.Object({
    email: Type.Optional(Type.String()),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    code_challenge: Type.Optional(Type.String()),
    code_challenge_method: Type.Optional(Type.String()),
  }),
  success: { status: 200, description: 'An empty object, whether there is such a user or not' },
  async handle(call, services) {
    checkMagicLinkAllowed(services)
    if ((call.body.email ?? '') === '') {
      throw invalid('Password recovery requires an email', { status: 422 })
    }
    await sendMagicLink(call, services, 'create')
    return json({})
  },
})

export function checkMagicLinkAllowed({ config: { site } }: Services): void {
  if (!site.emailEnabled) {
    throw new ApiError('email_provider_disabled', 'Email logins are disabled')
  }
  if (!site.magicLinkEnabled) {
    throw new ApiError('email_provider_disabled', 'Login with magic link is disabled')
  }
}

interface MagicLinkBody extends MailBody {
  readonly data?: Readonly<Record<string, unknown>>
}

export async function sendMagicLink(
  call: Call<MagicLinkBody>,
  services: Services,
  newcomer: MagicLinkAsk['newcomer'],
): Promise<void> {
  const email = parseEmail(call.body.email)
  await requestMagicLink(services, {
    ...readMailAsk(call, services, email),
    data: parseOwnMetadata(services, call.body.data),
    newcomer,
    firstMail: call.isSdk ? 'confirmation' : 'magicLink',
  })
}
