import { checkAuthorized, parseEmail, parsePhone } from '../../addresses.ts'
import { ApiError, invalid } from '../../errors.ts'
import { type Answer, type Call, json } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { type Static, Type } from '../../http/schema.ts'
import { readRecipients } from '../../messages/requests/daily-codes.ts'
import { parseTextChannel } from '../../messages/requests/phone-gateway.ts'
import { checkPassword } from '../../passwords/password-policy.ts'
import type { Services } from '../../services.ts'
import { findRedirectTarget } from '../redirects/redirect-location.ts'
import { parseChallenge } from '../sessions/pkce.ts'
import { checkSignupAllowed } from '../user-changes/sign-up-allowed.ts'
import { parseOwnMetadata } from '../users/metadata.ts'
import { signUpAnonymously, signUpByEmail, signUpByPhone } from './sign-up.ts'

const body = Type.Object({
  email: Type.Optional(Type.String({ description: 'Email address of the new user' })),
  phone: Type.Optional(Type.String({ description: 'Phone number of the new user (E.164)' })),
  password: Type.Optional(Type.String()),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  channel: Type.Optional(
    Type.String({ description: 'How the code is sent to the phone number: sms or whatsapp' }),
  ),
  code_challenge: Type.Optional(Type.String()),
  code_challenge_method: Type.Optional(Type.String()),
})

export const signup = defineEndpoint({
  method: 'POST',
  path: '/signup',
  summary: 'Signs up a user by email or phone, or signs in anonymously',
  allowed: 'anyone',
  limiter: ({ email, phone }) => (email || phone ? 'signup' : 'anonymous'),
  captcha: 'always',
  sendsCodesTo({ body: { email, phone } }, { config: { mail, sms } }) {
    return readRecipients({
      email: mail.autoconfirm ? '' : email,
      phone: sms.autoconfirm ? '' : phone,
    })
  },
  query: { redirect_to: 'URL to which the link in the email redirects' },
  body,
  success: {
    status: 200,
    description: 'The user record. If no confirmation is required, also tokens',
  },
  async handle(call, services) {
    const { email = '', phone = '' } = call.body
    const signUp = email === '' && phone === '' ? anonymous : named
    const response = await signUp(call, services)
    return call.isSdk ? response : withUserRecord(response)
  },
})

/**
 * The response is the user record. If no confirmation is required, it also has the tokens; clients
 * of Supabase Auth expect only the token response, with the record in `user`.
 */
function withUserRecord(response: Answer): Answer {
  const { body } = response
  if (typeof body !== 'object' || body === null || !('user' in body)) return response
  return { ...response, body: { ...(typeof body.user === 'object' && body.user), ...body } }
}

type SignupCall = Call<Static<typeof body>>

async function anonymous(call: SignupCall, services: Services): Promise<Answer> {
  const {
    body: { data },
    audience,
    client,
  } = call
  const { site } = services.config
  if (!site.anonymousEnabled) {
    throw new ApiError('anonymous_provider_disabled', 'Anonymous sign-ins are disabled')
  }
  checkSignupAllowed(services)
  return json(
    await signUpAnonymously(services, { audience, client, data: parseOwnMetadata(services, data) }),
  )
}

async function named(call: SignupCall, services: Services): Promise<Answer> {
  const { email = '', phone = '', password = '', data, channel } = call.body
  checkSignupAllowed(services)
  if (password === '') throw invalid('Signup requires a valid password')
  await checkPassword(password, services.passwordPolicy)
  if (email !== '' && phone !== '') {
    throw invalid('Only an email address or phone number should be provided on signup.')
  }
  const challenge = parseChallenge(call.body.code_challenge, call.body.code_challenge_method)
  if (phone !== '') {
    if (challenge !== undefined) throw invalid('PKCE not supported for phone signups')
    const textChannel = parseTextChannel(services, channel)
    if (!services.config.site.phoneEnabled) {
      throw new ApiError('phone_provider_disabled', 'Phone signups are disabled', { status: 400 })
    }
    return json(
      await signUpByPhone(services, {
        phone: parsePhone(phone),
        password,
        data: parseOwnMetadata(services, data),
        audience: call.audience,
        client: call.client,
        isSdk: call.isSdk,
        channel: textChannel,
      }),
    )
  }
  if (channel !== undefined && channel !== 'sms') throw invalid('Invalid channel')
  if (!services.config.site.emailEnabled) {
    throw new ApiError('email_provider_disabled', 'Email signups are disabled', { status: 400 })
  }
  const address = parseEmail(email)
  if (!services.config.mail.autoconfirm) checkAuthorized(services, address)
  const redirectTo = findRedirectTarget(call, services.redirects)
  return json(
    await signUpByEmail(services, {
      email: address,
      password,
      data: parseOwnMetadata(services, data),
      audience: call.audience,
      client: call.client,
      isSdk: call.isSdk,
      challenge,
      redirectTo,
      externalUrl: call.externalUrl,
    }),
  )
}
