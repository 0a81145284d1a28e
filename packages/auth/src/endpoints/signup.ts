import { type Static, Type } from 'typebox'
import { parseEmail } from '../core/email-address.ts'
import { toMetadata } from '../core/metadata.ts'
import { checkPassword } from '../core/password-policy.ts'
import { parseChallenge } from '../core/pkce.ts'
import type { Services } from '../core/services.ts'
import { signUpAnonymously } from '../core/sign-up-anonymously.ts'
import { signUpByEmail } from '../core/sign-up-by-email.ts'
import { ApiError, invalid } from '../errors.ts'
import { type Answer, type Call, json } from '../http/call.ts'
import { defineEndpoint } from '../http/endpoint.ts'
import { findRedirectTarget } from '../http/redirect-target.ts'

const body = Type.Object({
  email: Type.Optional(Type.String({ description: 'Address of the new user' })),
  phone: Type.Optional(Type.String({ description: 'Number of the new user (E.164)' })),
  password: Type.Optional(Type.String()),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  channel: Type.Optional(Type.String()),
  code_challenge: Type.Optional(Type.String()),
  code_challenge_method: Type.Optional(Type.String()),
})

export const signup = defineEndpoint({
  method: 'POST',
  path: '/signup',
  summary: 'Registers a user by email, or signs in without a name',
  allowed: 'anyone',
  query: { redirect_to: 'Where the link in the email leads in the end' },
  body,
  success: { status: 200, description: 'A user record, or a token response where none confirms' },
  async handle(call, services) {
    const { email = '', phone = '' } = call.body
    return email === '' && phone === '' ? anonymous(call, services) : named(call, services)
  },
})

type SignupCall = Call<Static<typeof body>>

async function anonymous(call: SignupCall, services: Services): Promise<Answer> {
  const {
    body: { data },
    audience,
    client,
  } = call
  await call.checkLimit('anonymous')
  const { site } = services.config
  if (!site.anonymousEnabled) {
    throw new ApiError('anonymous_provider_disabled', 'Anonymous sign-ins are disabled')
  }
  checkSignupAllowed(services)
  return json(await signUpAnonymously(services, { audience, client, data: toMetadata(data) }))
}

async function named(call: SignupCall, services: Services): Promise<Answer> {
  const { email = '', phone = '', password = '', data, channel } = call.body
  await call.checkLimit('signup')
  checkSignupAllowed(services)
  if (password === '') throw invalid('Signup requires a valid password')
  checkPassword(password, services.passwordPolicy)
  if (email !== '' && phone !== '') {
    throw invalid('Only an email address or phone number should be provided on signup.')
  }
  const challenge = parseChallenge(call.body.code_challenge, call.body.code_challenge_method)
  if (phone !== '') {
    throw new ApiError('phone_provider_disabled', 'Phone signups are disabled', { status: 400 })
  }
  if (channel !== undefined && channel !== 'sms') throw invalid('Invalid channel')
  if (!services.config.site.emailEnabled) {
    throw new ApiError('email_provider_disabled', 'Email signups are disabled', { status: 400 })
  }
  const redirectTo = findRedirectTarget(call, services.redirects)
  return json(
    await signUpByEmail(services, {
      email: parseEmail(email),
      password,
      data: toMetadata(data),
      audience: call.audience,
      client: call.client,
      challenge,
      redirectTo,
      externalUrl: call.externalUrl,
    }),
  )
}

function checkSignupAllowed({ config: { site } }: Services): void {
  if (!site.disableSignup) return
  throw new ApiError('signup_disabled', 'Signups not allowed for this instance')
}
