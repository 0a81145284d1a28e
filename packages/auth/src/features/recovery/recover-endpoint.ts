import { ApiError, invalid } from '../../errors.ts'
import { json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { Type } from '../../http/schema.ts'
import { readRecipients } from '../../messages/requests/code-recipients.ts'
import { readMailAsk } from '../../messages/requests/mail-ask.ts'
import { parseEmail } from '../users/email-address.ts'
import { requestRecovery } from './recover.ts'

export const recover = defineEndpoint({
  method: 'POST',
  path: '/recover',
  summary: 'Sends a link to somebody who has forgotten their password',
  allowed: 'anyone',
  limiter: 'recover',
  captcha: 'always',
  sendsCodesTo: ({ body }) => readRecipients(body),
  query: { redirect_to: 'Where the link leads in the end' },
  body: Type.Object({
    email: Type.Optional(Type.String()),
    code_challenge: Type.Optional(Type.String()),
    code_challenge_method: Type.Optional(Type.String()),
  }),
  success: { status: 200, description: 'An empty object, whether there is such a user or not' },
  async handle(call, services) {
    if (!services.config.site.emailEnabled) {
      throw new ApiError('email_provider_disabled', 'Email logins are disabled', { status: 400 })
    }
    const { email = '' } = call.body
    if (email === '') throw invalid('Password recovery requires an email')
    await requestRecovery(services, readMailAsk(call, services, parseEmail(email)))
    return json({})
  },
})
